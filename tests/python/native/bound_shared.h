/* bound_shared.h - types of two bound libraries: bound_maker.cc binds them, bound_user.cc uses them. */
#ifndef BOUND_SHARED_H_
#define BOUND_SHARED_H_

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace bound_shared {

struct Ship {
  std::string name;
  int crew = 0;
  std::vector<int> decks;
};

enum class Sail : unsigned char { square = 1, lateen = 2 };
enum class Flag { red = 1, blue = 2 };
enum class Port { bergen = 7, lisbon = 3 };

struct Aground : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace bound_shared

#endif /* BOUND_SHARED_H_ */
