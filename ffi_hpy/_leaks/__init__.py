"""The leak report: see `report`."""
