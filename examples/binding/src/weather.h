/* weather.h - a plain C++17 library, which knows nothing of Python: sensors, stations, and maps of temperatures. */
#ifndef WEATHER_H_
#define WEATHER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace weather {

enum class Unit { celsius, fahrenheit, kelvin };
enum class Warning : unsigned { none = 0, frost = 1, heat = 2, storm = 4 };
inline Warning operator|(Warning a, Warning b) {
  return static_cast<Warning>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

struct BrokenSensor : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline double convert(double celsius, Unit unit) {
  if (unit == Unit::celsius) return celsius;
  return unit == Unit::kelvin ? celsius + 273.15 : celsius * 1.8 + 32;
}

/* A place on the map. */
struct Place {
  double x = 0, y = 0;
  std::string name;

  Place(double x, double y, std::string name) : x(x), y(y), name(std::move(name)) {}
  explicit Place(std::string name) : name(std::move(name)) {}
  bool operator==(const Place &other) const { return x == other.x && y == other.y && name == other.name; }
  Place operator+(const Place &other) const { return {x + other.x, y + other.y, name}; }
  Place operator*(double by) const { return {x * by, y * by, name}; }
  Place operator-() const { return {-x, -y, name}; }
};

/* One value at one hour of the day. */
struct Reading {
  int hour = 0;
  double celsius = 0;
  bool operator==(const Reading &other) const { return hour == other.hour && celsius == other.celsius; }
};
using Series = std::vector<Reading>;

class Sensor {
public:
  explicit Sensor(std::string name, double offset = 0) : name(std::move(name)) { set_offset(offset); }
  virtual ~Sensor() = default;
  virtual double measure(int hour) const = 0;
  virtual std::string kind() const { return "sensor"; }

  double offset() const { return offset_; }
  void set_offset(double offset) {
    if (offset < -5 || offset > 5) throw std::invalid_argument("an offset is between -5 and 5 degrees");
    offset_ = offset;
  }

  std::string name;
  std::vector<std::string> tags;
  std::map<std::string, double> limits;
  std::optional<Place> place;

private:
  double offset_ = 0;
};

/* A sensor that returns the last value it was given. */
class Thermometer : public Sensor {
public:
  Thermometer(std::string name, std::vector<double> celsius, double offset = 0)
      : Sensor(std::move(name), offset), celsius_(std::move(celsius)) {}
  double measure(int hour) const override {
    if (celsius_.empty()) throw BrokenSensor(name + " shows nothing");
    return celsius_.at(static_cast<size_t>(hour)) + offset();
  }
  std::string kind() const override { return "thermometer"; }
  static std::unique_ptr<Thermometer> constant(double celsius) {
    return std::make_unique<Thermometer>("constant", std::vector<double>(24, celsius));
  }

private:
  std::vector<double> celsius_;
};

/* Sensors that belong together. The station shares them with its users. */
class Station {
public:
  explicit Station(Place place) : place(std::move(place)) {}

  void add(std::shared_ptr<Sensor> sensor) { sensors_.push_back(std::move(sensor)); }
  const std::vector<std::shared_ptr<Sensor>> &sensors() const { return sensors_; }
  std::shared_ptr<Sensor> find(const std::string &name) const {
    for (const auto &sensor : sensors_) {
      if (sensor->name == name) return sensor;
    }
    return nullptr;
  }

  /* The mean of all sensors, for some hours. */
  Series measure(const std::vector<int> &hours) const {
    Series found;
    for (int hour : hours) found.push_back({hour, mean(hour)});
    return found;
  }
  double mean(int hour) const {
    if (sensors_.empty()) throw BrokenSensor("the station has no sensor");
    double sum = 0;
    for (const auto &sensor : sensors_) sum += sensor->measure(hour);
    return sum / static_cast<double>(sensors_.size());
  }
  /* Calls a function for each hour, on another thread. */
  void watch(const std::vector<int> &hours, const std::function<void(int, double)> &report) const {
    std::exception_ptr thrown;
    std::thread watcher([&] {
      try {
        for (int hour : hours) report(hour, mean(hour));
      } catch (...) {
        thrown = std::current_exception();
      }
    });
    watcher.join();
    if (thrown) std::rethrow_exception(thrown);
  }

  Place place;

private:
  std::vector<std::shared_ptr<Sensor>> sensors_;
};

/* A view of a station, which must live as long as the view. */
class Report {
public:
  explicit Report(const Station &station, Unit unit = Unit::celsius) : station_(&station), unit_(unit) {}
  std::string line(int hour) const {
    return station_->place.name + ": " + std::to_string(static_cast<int>(convert(station_->mean(hour), unit_)));
  }

private:
  const Station *station_;
  Unit unit_;
};

inline Warning warnings(const Series &series) {
  Warning found = Warning::none;
  for (const Reading &reading : series) {
    if (reading.celsius < 0) found = found | Warning::frost;
    if (reading.celsius > 35) found = found | Warning::heat;
  }
  return found;
}
inline double mean(const std::vector<double> &celsius, Unit unit) {
  double sum = 0;
  for (double each : celsius) sum += each;
  return convert(sum / static_cast<double>(celsius.size()), unit);
}
inline double mean(const Series &series, std::optional<int> until) {
  double sum = 0;
  size_t count = 0;
  for (const Reading &reading : series) {
    if (until && reading.hour > *until) continue;
    sum += reading.celsius, ++count;
  }
  return sum / static_cast<double>(count);
}
inline std::tuple<double, double, int> extremes(const Series &series) {
  const Reading *low = &series.at(0), *high = low;
  for (const Reading &reading : series) {
    if (reading.celsius < low->celsius) low = &reading;
    if (reading.celsius > high->celsius) high = &reading;
  }
  return {low->celsius, high->celsius, high->hour};
}
inline std::pair<int, std::string> parse(const std::string &text) {
  size_t digits = 0;
  int number = std::stoi(text, &digits);
  return {number, text.substr(digits)};
}
inline std::variant<double, std::string> at(const Series &series, int hour) {
  for (const Reading &reading : series) {
    if (reading.hour == hour) return reading.celsius;
  }
  return "not measured";
}
inline std::map<int, double> by_hour(const Series &series) {
  std::map<int, double> found;
  for (const Reading &reading : series) found[reading.hour] = reading.celsius;
  return found;
}
inline std::optional<Reading> first_frost(const Series &series) {
  for (const Reading &reading : series) {
    if (reading.celsius < 0) return reading;
  }
  return std::nullopt;
}

/* Adds to each value of a map of temperatures, in place. */
inline void warm(double *celsius, size_t rows, size_t columns, double by) {
  for (size_t i = 0; i < rows * columns; ++i) celsius[i] += by;
}
/* Writes the mean of each row. */
inline void row_means(const double *celsius, size_t rows, size_t columns, double *means) {
  for (size_t row = 0; row < rows; ++row) {
    means[row] = 0;
    for (size_t column = 0; column < columns; ++column) means[row] += celsius[row * columns + column];
    means[row] /= static_cast<double>(columns);
  }
}

} // namespace weather

#endif /* WEATHER_H_ */
