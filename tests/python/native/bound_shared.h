/* bound_shared.h - a class of two bound libraries: bound_maker.cc binds it, bound_user.cc uses it. */
#ifndef BOUND_SHARED_H_
#define BOUND_SHARED_H_

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace bound_shared {

struct Ship {
  std::string name;
  int crew = 0;
  std::vector<int> decks;
};

} // namespace bound_shared

#endif /* BOUND_SHARED_H_ */
