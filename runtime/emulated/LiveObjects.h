//===- LiveObjects.h - Handles that a library has given out -----*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_LIVEOBJECTS_H
#define AUTOPAR_RUNTIME_EMULATED_LIVEOBJECTS_H

#include <memory>
#include <unordered_map>

namespace autopar::runtime::emulated {

/// Owns the objects behind opaque handles: a handle that was destroyed, or is
/// none, is known as such. A real library would crash, or worse.
template <typename Object> class LiveObjects {
public:
  Object *create() {
    auto made = std::make_unique<Object>();
    Object *object = made.get();
    objects.emplace(object, std::move(made));
    return object;
  }
  /// Null for what is not alive.
  Object *find(const void *handle) const {
    auto found = objects.find(handle);
    return found == objects.end() ? nullptr : found->second.get();
  }
  bool destroy(const void *handle) { return objects.erase(handle) > 0; }

private:
  std::unordered_map<const void *, std::unique_ptr<Object>> objects;
};

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_LIVEOBJECTS_H
