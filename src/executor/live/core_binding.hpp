// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <dlnb/trace.hpp>

#include "executor/live/neighbours.hpp"
#include "executor/live/seating.hpp"

namespace dlnb {

/// Binds the calling thread, a rank, to its seat. What the thread was allowed before holds again when this goes.
class CoreBinding {
 public:
  /// Collective over the world: the first rank of every machine decides for it. `threads` of each rank want a core at
  /// the same time. Until `sit`, the thread and those it starts are where helpers belong. Throws Unavailable, the
  /// same on all ranks, where what was asked for cannot be.
  CoreBinding(const Control& control, const Neighbours& neighbours, BindingMode mode, int threads);
  ~CoreBinding();
  CoreBinding(const CoreBinding&) = delete;
  CoreBinding& operator=(const CoreBinding&) = delete;

  /// From now on the thread is on its own cores, and pages it touches first are from its memory.
  void sit() const;
  /// While it lives, threads that the rank starts are helpers.
  class Aside {
   public:
    explicit Aside(const CoreBinding& binding) : binding_(binding) { binding_.stand_aside(); }
    ~Aside() { binding_.sit(); }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

   private:
    const CoreBinding& binding_;
  };

  /// Where threads that work for the rank belong; null where nobody is bound.
  const Cpus* helpers() const { return bound_ ? &seat_.helpers : nullptr; }

  /// On rank 0: where every rank is, and what was decided and why, once per kind of machine.
  const std::vector<RankBinding>& map() const { return map_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void stand_aside() const;
  Seating decide(const Neighbours& neighbours, BindingMode mode, int threads);

  const Cpus before_;
  CoreClaims claims_;
  bool bound_ = false;
  Seat seat_;
  std::vector<RankBinding> map_;
  std::vector<std::string> notes_;
};

}  // namespace dlnb
