// SPDX-License-Identifier: Apache-2.0
// Sizes at the paper's scale, where a rank's buffers do not fit into this machine and counts do not fit into 32 bits:
// the plans are made ready to run with an allocator that hands out addresses and no memory.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <map>

#include <fmt/format.h>

#include "config/config.hpp"
#include "executor/live/binding.hpp"
#include "executor/live/buffers.hpp"
#include "pipeline.hpp"

namespace dlnb {
namespace {

/// A transport that moves nothing; its memory is address space that may not be touched.
class AddressesOnly final : public Transport {
 public:
  ~AddressesOnly() override {
    for (const auto& [address, bytes] : given_) munmap(address, bytes);
  }
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string library() const override { return "addresses only"; }
  bool reduces_in_place() const override { return false; }
  int communicator(std::span<const int>) override { return 0; }
  std::byte* allocate(std::int64_t bytes) override {
    void* const address =
        mmap(nullptr, std::size_t(bytes) + 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) throw std::bad_alloc();
    given_[static_cast<std::byte*>(address)] = std::size_t(bytes) + 1;
    return static_cast<std::byte*>(address);
  }
  void release(std::byte*) noexcept override {}
  void reserve(int) override {}
  void start(int, const Transfer&) override {}
  bool test(int) override { return true; }
  void wait(int) override {}
  void run(const Transfer&) override {}
  void abort(int, const std::string&) override {}

  /// Whether so many bytes from there on were given out at once.
  bool holds(const std::byte* from, std::int64_t bytes) const {
    auto place = given_.upper_bound(const_cast<std::byte*>(from));
    if (place == given_.begin()) return false;
    --place;
    return bytes >= 0 && from + bytes <= place->first + place->second;
  }

 private:
  std::map<std::byte*, std::size_t> given_;
};

struct PaperRun {
  const char* plan;
  const char* model;
  const char* ranks;
  std::int64_t largest_elements;  ///< of one operation on one rank
};

class PaperScale : public testing::TestWithParam<PaperRun> {};

TEST_P(PaperScale, EveryTransferLiesWithinItsBuffers) {
  const PaperRun& run = GetParam();
  const RunSpec spec = read_spec(
      {}, make_overrides({{"plan", run.plan, ""}, {"model", run.model, ""}, {"ranks", run.ranks, ""}}));
  const Schedule schedule = make_schedule(spec);

  std::int64_t largest = 0;
  for (std::int64_t rank = 0, role = 0; role < std::int64_t(schedule.programs.size()); ++role) {
    while (schedule.role_of(rank) != role) ++rank;
    const Binding binding = bind(schedule, rank, false);
    AddressesOnly memory;
    const Buffers buffers(memory, binding.lanes);
    for (std::size_t i = 0; i < binding.actions.size(); ++i) {
      const Action& action = binding.actions[i];
      if (action.what != Action::What::run && action.what != Action::What::start) continue;
      const Operation& operation = binding.operations[i];
      const Transfer& transfer = action.transfer;
      const std::int64_t size = size_of(operation.dtype);
      EXPECT_EQ(std::max(transfer.elements_sent, transfer.elements_received),
                std::max(operation.elements_sent, operation.elements_received));
      if (!action.in_place) {
        EXPECT_TRUE(memory.holds(buffers.send(action.lane), transfer.elements_sent * size));
      }
      EXPECT_TRUE(memory.holds(buffers.receive(action.lane), transfer.elements_received * size));
      largest = std::max({largest, transfer.elements_sent, transfer.elements_received});
    }
  }

  EXPECT_EQ(largest, run.largest_elements);
}

// Parameters cut into 50 buckets (rounded up), 16 units of which a rank receives the whole, stages of which it reduces
// the gradients: those of a stage of Llama-3-70B no longer fit into a 32-bit count.
INSTANTIATE_TEST_SUITE_P(Plans, PaperScale,
                         testing::Values(PaperRun{"dp", "vit-h", "64", 632'404'480 / 50 + 1},
                                         PaperRun{"fsdp", "llama3-8b", "256", 8'030'261'248 / 16},
                                         PaperRun{"dp+pp", "llama3-8b", "256", 8'030'261'248 / 8},
                                         PaperRun{"dp+pp+tp", "llama3-70b", "1024", 70'553'706'496 / 32},
                                         PaperRun{"dp+pp+ep", "mixtral-8x7b", "1024", 905'347'584}),
                         [](const auto& tried) {
                           std::string name = fmt::format("{}_{}", tried.param.plan, tried.param.model);
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace dlnb
