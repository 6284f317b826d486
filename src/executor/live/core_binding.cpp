// SPDX-License-Identifier: Apache-2.0
#include "executor/live/core_binding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

/// A seat on its way.
struct Ticket {
  Cpus cores, helpers;
  int rank = 0, numa = -1, memory = -1;
  bool bound = false;
  std::array<char, 32> gpu{};
};
static_assert(std::is_trivially_copyable_v<Ticket>);

std::vector<Ticket> tickets_of(const Seating& seating, const Neighbours& neighbours) {
  std::vector<Ticket> tickets;
  for (std::size_t i = 0; i < neighbours.ranks.size(); ++i) {
    Ticket& ticket = tickets.emplace_back();
    ticket.rank = neighbours.ranks[i];
    ticket.cores = neighbours.all[std::size_t(ticket.rank)].allowed;
    if (seating.seats.empty()) continue;
    const Seat& seat = seating.seats[i];
    ticket.bound = true;
    ticket.cores = seat.cores, ticket.helpers = seat.helpers;
    ticket.numa = seat.numa, ticket.memory = seat.memory;
    std::copy_n(seat.gpu.begin(), std::min(seat.gpu.size(), ticket.gpu.size() - 1), ticket.gpu.begin());
  }
  return tickets;
}

}  // namespace

CoreBinding::CoreBinding(const Control& control, const Neighbours& neighbours, BindingMode mode, int threads)
    : before_(cpus_of_this_thread()) {
  Seating seating;
  std::vector<Ticket> own;
  if (neighbours.leads()) {
    seating = decide(neighbours, mode, threads);
    own = tickets_of(seating, neighbours);
  }
  const std::vector<std::string> refusals = control.gather(seating.refusal);
  const std::string refusal = agree(control, [&] {
    for (std::size_t rank = 0; rank < refusals.size(); ++rank)
      if (!refusals[rank].empty())
        return fmt::format("{}: {}", neighbours.all[rank].host.data(), refusals[rank]);
    return std::string();
  });
  if (!refusal.empty()) throw Unavailable("--binding", refusal, "use --binding auto or --binding none");

  for (const std::string& said : control.gather(seating.said))
    if (!said.empty() && std::ranges::find(notes_, said) == notes_.end()) notes_.push_back(said);
  std::vector<Ticket> tickets(std::size_t(control.transport().size()));
  for (const auto& bytes : control.gather(std::as_bytes(std::span(own))))
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(Ticket)) {
      Ticket ticket;
      std::memcpy(static_cast<void*>(&ticket), bytes.data() + at, sizeof ticket);
      tickets[std::size_t(ticket.rank)] = ticket;
      map_.push_back({ticket.rank, neighbours.all[std::size_t(ticket.rank)].host.data(),
                      list_text(ticket.cores), ticket.bound, ticket.numa, ticket.gpu.data()});
    }
  std::ranges::sort(map_, {}, &RankBinding::rank);

  Ticket ticket = tickets[0];
  const auto bytes = std::as_writable_bytes(std::span(&ticket, 1));
  if (control.first())
    for (std::size_t rank = 1; rank < tickets.size(); ++rank)
      control.send(int(rank), std::as_bytes(std::span(&tickets[rank], 1)));
  else control.receive(0, bytes);
  bound_ = ticket.bound;
  seat_ = {ticket.cores, ticket.helpers, ticket.numa, ticket.memory, ticket.gpu.data()};
  stand_aside();
}

CoreBinding::~CoreBinding() {
  if (!bound_) return;
  try {
    move_this_thread(before_);
    if (seat_.memory >= 0) take_memory_from(-1);
  } catch (const Error&) {  // the control group has changed meanwhile; the thread is somewhere it may be
  }
}

Seating CoreBinding::decide(const Neighbours& neighbours, BindingMode mode, int threads) {
  std::vector<Guest> guests;
  for (const int rank : neighbours.ranks) guests.push_back(neighbours.all[std::size_t(rank)].guest());
  Topology topology;
  if (mode != BindingMode::none) try {
      topology = topology_of_this_host();
    } catch (const Unavailable& error) {
      if (mode != BindingMode::automatic) return {{}, {}, error.what()};
      return {{}, fmt::format("ranks are not bound: {}", error.what()), {}};
    }
  Seating seating = seat_ranks(topology, mode, guests, threads, claims_);
  const bool wants_memory =
      std::ranges::any_of(seating.seats, [](const Seat& seat) { return seat.memory >= 0; });
  if (!wants_memory) return seating;
  if (take_memory_from(seating.seats.front().memory)) {
    take_memory_from(-1);
    return seating;
  }
  for (Seat& seat : seating.seats) seat.memory = -1;
  seating.said =
      "every rank has a NUMA node; its memory is not held there, because this system does not allow it";
  return seating;
}

void CoreBinding::sit() const {
  if (!bound_) return;
  move_this_thread(seat_.cores);
  if (seat_.memory >= 0) take_memory_from(seat_.memory);
}

void CoreBinding::stand_aside() const {
  if (bound_) move_this_thread(seat_.helpers);
}

}  // namespace dlnb
