/* thread.h - the GIL, and locks of objects on interpreters without it. Programs include ffi_hpy/bind.h.
 *
 * On CPython the library finds the functions of the interpreter by name in the running process, so it needs none of
 * them to be loaded. On PyPy a bound function runs without the GIL in any case. */
#ifndef FFI_HPY_BIND_THREAD_H_
#define FFI_HPY_BIND_THREAD_H_

#include <ffi_hpy/bind/python.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#include <pthread.h>
#endif

FFI_HPY_NAMESPACE_BEGIN

namespace detail {

/** A function of CPython; null on PyPy. */
template <typename F> F python_function(const char *name) {
#if defined(_WIN32)
  for (const char *library : {"python3.dll", "python3t.dll"}) {
    HMODULE module = GetModuleHandleA(library);
    if (module == nullptr) module = LoadLibraryA(library);
    FARPROC found = module == nullptr ? nullptr : GetProcAddress(module, name);
    if (found != nullptr) return reinterpret_cast<F>(found);
  }
  return nullptr;
#else
  return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
#endif
}

/** The functions of CPython for threads; all null on PyPy. */
struct gil_functions {
  void *(*current)() = python_function<void *(*)()>("PyThreadState_GetUnchecked"); /* from 3.13 on */
  void *(*holder)() = python_function<void *(*)()>("_PyThreadState_UncheckedGet");
  void *(*own)() = python_function<void *(*)()>("PyGILState_GetThisThreadState");
  void *(*save)() = python_function<void *(*)()>("PyEval_SaveThread");
  void (*restore)(void *) = python_function<void (*)(void *)>("PyEval_RestoreThread");
  int (*ensure)() = python_function<int (*)()>("PyGILState_Ensure");
  void (*release)(int) = python_function<void (*)(int)>("PyGILState_Release");

  static const gil_functions &get() {
    static const gil_functions found;
    return found;
  }
  /** Whether the thread holds the GIL. PyGILState_Check() does not help: it is true for every thread once the process
   * has had a sub-interpreter. Up to 3.11 `holder` returns the state of the thread that holds the GIL, which may be
   * another thread. Before 3.13 the answer is false for a thread of a sub-interpreter that runs in the main
   * interpreter, too. */
  bool is_held() const {
    if (current != nullptr) return current() != nullptr;
    return holder != nullptr && own != nullptr && holder() != nullptr && holder() == own();
  }
};

/** Whether bound functions run in parallel: without a GIL, and on PyPy, where calls by cffi release it. */
inline bool functions_run_in_parallel() {
  static const bool answer = ask_python("runs_in_parallel").any().v_int64 != 0;
  return answer;
}

} // namespace detail

/** Lets other threads of Python run while the object lives. Functions of this header may still be called. */
class gil_scoped_release {
public:
  gil_scoped_release() {
    const detail::gil_functions &python = detail::gil_functions::get();
    if (python.is_held()) state_ = python.save();
  }
  gil_scoped_release(const gil_scoped_release &) = delete;
  ~gil_scoped_release() {
    if (state_ != nullptr) detail::gil_functions::get().restore(state_);
  }

private:
  void *state_ = nullptr;
};

/** Holds the GIL while the object lives, on any thread. Functions of this header do not need it. */
class gil_scoped_acquire {
public:
  gil_scoped_acquire() {
    const detail::gil_functions &python = detail::gil_functions::get();
    if (python.ensure != nullptr) state_ = python.ensure();
  }
  gil_scoped_acquire(const gil_scoped_acquire &) = delete;
  ~gil_scoped_acquire() {
    const detail::gil_functions &python = detail::gil_functions::get();
    if (python.release != nullptr) python.release(state_);
  }
  /** Whether the thread may use Python: always, once the object exists. */
  bool is_valid() const { return true; }
  explicit operator bool() const { return is_valid(); }

private:
  int state_ = 0;
};

namespace detail {

/** A mutex of the system, which a thread may lock several times. Compilers take long for the header <mutex>. */
class system_mutex {
public:
#if defined(_WIN32)
  system_mutex() { InitializeCriticalSection(&mutex_); }
  ~system_mutex() { DeleteCriticalSection(&mutex_); }
  void lock() { EnterCriticalSection(&mutex_); }
  bool try_lock() { return TryEnterCriticalSection(&mutex_) != 0; }
  void unlock() { LeaveCriticalSection(&mutex_); }
#else
  system_mutex() {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex_, &kind);
    pthread_mutexattr_destroy(&kind);
  }
  ~system_mutex() { pthread_mutex_destroy(&mutex_); }
  void lock() { pthread_mutex_lock(&mutex_); }
  bool try_lock() { return pthread_mutex_trylock(&mutex_) == 0; }
  void unlock() { pthread_mutex_unlock(&mutex_); }
#endif
  system_mutex(const system_mutex &) = delete;

  /** Locks the mutex. A thread that waits lets other threads of Python run, because the owner may wait for it. */
  void lock_without_gil() {
    if (try_lock()) return;
    gil_scoped_release released;
    lock();
  }

private:
#if defined(_WIN32)
  CRITICAL_SECTION mutex_;
#else
  pthread_mutex_t mutex_;
#endif
};

/** Unlocks a locked mutex at its end. */
class unlock_later {
public:
  explicit unlock_later(system_mutex &mutex) : mutex_(mutex) {}
  unlock_later(const unlock_later &) = delete;
  ~unlock_later() { mutex_.unlock(); }

private:
  system_mutex &mutex_;
};

} // namespace detail

/** A mutex where bound functions run in parallel; with a GIL it does nothing. A thread that waits lets other
 * threads of Python run. */
class ft_mutex {
public:
  void lock() {
    if (detail::functions_run_in_parallel()) mutex_.lock_without_gil();
  }
  void unlock() {
    if (detail::functions_run_in_parallel()) mutex_.unlock();
  }

private:
  detail::system_mutex mutex_;
};

/** Locks an ft_mutex while the object lives. */
class ft_lock_guard {
public:
  explicit ft_lock_guard(ft_mutex &mutex) : mutex_(mutex) { mutex_.lock(); }
  ft_lock_guard(const ft_lock_guard &) = delete;
  ~ft_lock_guard() { mutex_.unlock(); }

private:
  ft_mutex &mutex_;
};

namespace detail {

/** The locks of the objects that are locked now, in lists by address. */
class object_lock {
public:
  static object_lock *lock(const void *object) {
    stripe &own = stripe_of(object);
    object_lock *found;
    {
      own.mutex.lock();
      unlock_later guard(own.mutex);
      found = own.first;
      while (found != nullptr && found->object_ != object) found = found->next_;
      if (found == nullptr) {
        found = new object_lock(object, own.first);
        own.first = found;
      }
      ++found->n_users_;
    }
    found->mutex_.lock();
    return found;
  }
  void unlock() {
    mutex_.unlock();
    stripe &own = stripe_of(object_);
    own.mutex.lock();
    unlock_later guard(own.mutex);
    if (--n_users_ != 0) return;
    object_lock **link = &own.first;
    while (*link != this) link = &(*link)->next_;
    *link = next_;
    delete this;
  }

private:
  struct stripe {
    system_mutex mutex; /* no foreign code runs under it */
    object_lock *first = nullptr;
  };

  object_lock(const void *object, object_lock *next) : object_(object), next_(next) {}
  static stripe &stripe_of(const void *object) {
    enum { kStripes = 64 };
    static auto *stripes = new stripe[kStripes]; /* never deleted: threads may run until the process ends */
    return stripes[reinterpret_cast<uintptr_t>(object) / 64 % kStripes];
  }

  const void *object_;
  object_lock *next_;
  size_t n_users_ = 0;
  ft_mutex mutex_;
};

} // namespace detail

/** Locks up to two objects of bound classes while this object lives, where bound functions run in parallel. */
class ft_object2_guard {
public:
  ft_object2_guard(handle a, handle b) {
    if (detail::functions_run_in_parallel()) lock(a, b);
  }
  ft_object2_guard(const ft_object2_guard &) = delete;
  ~ft_object2_guard() {
    if (locks_[0] != nullptr) unlock();
  }

private:
  static const void *object_of(handle value) { return detail::is_object(value.any()) ? value.any().v_obj : nullptr; }
  FFI_HPY_NOINLINE void lock(handle a, handle b) {
    const void *first = object_of(a), *second = object_of(b);
    if (first == second) second = nullptr;
    if (first == nullptr) std::swap(first, second);
    if (second != nullptr && second < first) std::swap(first, second); /* all threads lock in this order */
    if (first != nullptr) locks_[0] = detail::object_lock::lock(first);
    if (second != nullptr) locks_[1] = detail::object_lock::lock(second);
  }
  FFI_HPY_NOINLINE void unlock() {
    if (locks_[1] != nullptr) locks_[1]->unlock();
    locks_[0]->unlock();
  }

  detail::object_lock *locks_[2] = {};
};

/** Locks an object of a bound class while this object lives, where bound functions run in parallel. */
class ft_object_guard : public ft_object2_guard {
public:
  explicit ft_object_guard(handle value) : ft_object2_guard(value, handle()) {}
};

FFI_HPY_NAMESPACE_END

#endif /* FFI_HPY_BIND_THREAD_H_ */
