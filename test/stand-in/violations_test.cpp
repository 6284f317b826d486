// SPDX-License-Identifier: Apache-2.0
// What the stand-in is there to find. Members are threads of this process here, each on a device of its own.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "executor/live/gpu/functions.hpp"
#include "executor/live/nccl/functions.hpp"
#include "executor/live/shared_library.hpp"

namespace dlnb {
namespace {

using gpu::Address;
using gpu::Status;
using gpu::Stream;
using nccl::Communicator;
using nccl::Result;
using nccl::Type;

const SharedLibrary& library() {
  static const SharedLibrary loaded({DLNB_STAND_IN});
  return loaded;
}
const gpu::Functions& cuda() {
  static const gpu::Functions functions = [] {
    gpu::Functions filled{};
    each_function(filled, [](const char* name, const char*, auto& function) {
      if (*name) library().find(name, function);
    });
    return filled;
  }();
  return functions;
}
const nccl::Functions& calls() {
  static const nccl::Functions functions = [] {
    nccl::Functions filled{};
    each_function(filled, [](const char* name, auto& function) { library().find(name, function); });
    return filled;
  }();
  return functions;
}

/// A member of one communicator, with a stream and two buffers.
struct Member {
  int me;
  Communicator communicator;
  Stream stream, other_stream;
  Address send, receive;

  const void* from() const { return reinterpret_cast<const void*>(std::uintptr_t(send)); }
  void* into() const { return reinterpret_cast<void*>(std::uintptr_t(receive)); }
  bool finished(std::chrono::milliseconds patience) const {
    gpu::Event event{};
    cuda().event_create(&event, gpu::event_without_time);
    cuda().event_record(event, stream);
    const auto limit = std::chrono::steady_clock::now() + patience;
    Status status = cuda().event_query(event);
    while (status == Status::not_ready && std::chrono::steady_clock::now() < limit) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      status = cuda().event_query(event);
    }
    return status == Status::success;
  }
};

constexpr std::size_t elements = 100;

void with_two_members(const std::function<void(Member&)>& body) {
  nccl::UniqueId id{};
  ASSERT_EQ(calls().get_unique_id(&id), Result::success);
  std::vector<std::thread> threads;
  for (int me = 0; me < 2; ++me)
    threads.emplace_back([&, me] {
      gpu::Context context{};
      cuda().context_retain(&context, me);
      cuda().context_set(context);
      Member member{.me = me};
      cuda().stream_create(&member.stream, gpu::stream_non_blocking);
      cuda().stream_create(&member.other_stream, gpu::stream_non_blocking);
      cuda().allocate(&member.send, elements * sizeof(float));
      cuda().allocate(&member.receive, elements * sizeof(float));
      ASSERT_EQ(calls().init(&member.communicator, 2, id, me), Result::success);
      body(member);
    });
  for (std::thread& thread : threads) thread.join();
}

/// What is written to the error output while it runs.
std::string said(const std::function<void()>& body) {
  testing::internal::CaptureStderr();
  body();
  return testing::internal::GetCapturedStderr();
}

constexpr std::chrono::milliseconds long_enough{5000}, short_time{200};

void all_reduce(const Member& m, std::size_t count) {
  calls().all_reduce(m.from(), m.into(), count, Type::float32, nccl::Reduction::sum, m.communicator,
                     m.stream);
}

TEST(StandIn, AgreesToWhatIsRight) {
  EXPECT_EQ(said([] {
              with_two_members([](Member& m) {
                all_reduce(m, elements);
                EXPECT_TRUE(m.finished(long_enough));
                calls().destroy(m.communicator);
              });
            }),
            "");
}

TEST(StandIn, CollectivesInAnotherOrder) {
  const std::string text = said([] {
    with_two_members([](Member& m) {
      if (m.me == 0) all_reduce(m, elements);
      else calls().broadcast(m.into(), m.into(), elements, Type::float32, 0, m.communicator, m.stream);
      EXPECT_TRUE(m.finished(long_enough));
      Result error = Result::success;
      calls().async_error(m.communicator, &error);
      EXPECT_EQ(error, Result::invalid_usage);
    });
  });

  EXPECT_NE(text.find("meets"), std::string::npos) << text;
}

TEST(StandIn, ACollectiveOfOtherSizes) {
  const std::string text = said([] {
    with_two_members([](Member& m) {
      all_reduce(m, m.me == 0 ? elements : elements / 2);
      EXPECT_TRUE(m.finished(long_enough));
    });
  });

  EXPECT_NE(text.find("all-reduce 0 of 100 meets all-reduce of 50"), std::string::npos) << text;
}

// Why messages in both directions have communicators of their own.
TEST(StandIn, TwoThatSendFirstInOneStreamWaitForEachOther) {
  with_two_members([](Member& m) {
    calls().send(m.from(), elements, Type::float32, 1 - m.me, m.communicator, m.stream);
    calls().receive(m.into(), elements, Type::float32, 1 - m.me, m.communicator, m.stream);

    EXPECT_FALSE(m.finished(short_time));

    calls().abort(m.communicator);
    EXPECT_TRUE(m.finished(long_enough));
  });
}

TEST(StandIn, AGroupMakesProgressTogether) {
  with_two_members([](Member& m) {
    calls().group_start();
    calls().send(m.from(), elements, Type::float32, 1 - m.me, m.communicator, m.stream);
    calls().receive(m.into(), elements, Type::float32, 1 - m.me, m.communicator, m.stream);
    EXPECT_TRUE(m.finished(short_time));  // nothing is started before the group ends
    calls().group_end();

    EXPECT_TRUE(m.finished(long_enough));
  });
}

TEST(StandIn, ACommunicatorOnTwoStreams) {
  const std::string text = said([] {
    with_two_members([](Member& m) {
      all_reduce(m, elements);
      m.finished(long_enough);
      m.stream = m.other_stream;
      all_reduce(m, elements);
      m.finished(long_enough);
    });
  });

  EXPECT_NE(text.find("on a second stream"), std::string::npos) << text;
}

TEST(StandIn, MemoryThatIsFreedUnderAnOperation) {
  const std::string text = said([] {
    with_two_members([](Member& m) {
      if (m.me == 0) {
        all_reduce(m, elements);  // the other member does not come
        cuda().release(m.receive);
        calls().abort(m.communicator);
        m.finished(long_enough);
      }
    });
  });

  EXPECT_NE(text.find("memory is freed that"), std::string::npos) << text;
}

TEST(StandIn, OperationsSideBySideInOnePlace) {
  const std::string text = said([] {
    with_two_members([](Member& m) {
      if (m.me == 1) return;
      all_reduce(m, elements);  // under way as long as the other member does not come
      cuda().fill(m.receive, 0, elements, m.other_stream);
      calls().abort(m.communicator);
      m.finished(long_enough);
      cuda().stream_synchronize(m.other_stream);
    });
  });

  EXPECT_NE(text.find("shares memory with"), std::string::npos) << text;
}

TEST(StandIn, HostMemoryInAnOperation) {
  const std::string text = said([] {
    with_two_members([](Member& m) {
      if (m.me == 1) return;
      std::vector<float> host(elements);
      calls().all_reduce(host.data(), m.into(), elements, Type::float32, nccl::Reduction::sum, m.communicator,
                         m.stream);
      calls().abort(m.communicator);
      m.finished(long_enough);
    });
  });

  EXPECT_NE(text.find("no device memory"), std::string::npos) << text;
}

TEST(StandIn, ACommunicatorThatIsGone) {
  const std::string text = said([] {
    with_two_members([](Member& m) {
      calls().destroy(m.communicator);
      all_reduce(m, elements);
    });
  });

  EXPECT_NE(text.find("a communicator that is not there"), std::string::npos) << text;
}

TEST(StandIn, AGroupThatHasNotBegun) {
  EXPECT_NE(said([] { EXPECT_EQ(calls().group_end(), Result::invalid_usage); }).find("has not begun"),
            std::string::npos);
}

}  // namespace
}  // namespace dlnb
