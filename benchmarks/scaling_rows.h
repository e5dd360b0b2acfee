/* The functions and classes that scaling_nanobind.cc and scaling_pybind11.cc bind. */
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

struct Pair {
  int64_t a;
  int64_t b;
  int64_t Sum() const { return a + b; }
};

struct Point {
  int64_t x;
  double y;
};

struct Record {
  Record(int64_t a, int64_t b, std::string text) : point{a, b}, name(std::move(text)) {}
  Pair point;
  std::string name;
};

using Ints = std::vector<int64_t>;
using Objects = std::vector<Pair>;
using TextMap = std::unordered_map<std::string, int64_t>;
using IntDict = std::unordered_map<int64_t, int64_t>;
