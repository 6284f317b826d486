// SPDX-License-Identifier: Apache-2.0
#include "executor/live/modules/gloo/messages.hpp"

#include "executor/live/modules/gloo/failures.hpp"
#include "executor/live/modules/gloo/limits.hpp"
#include "executor/live/modules/gloo/slots.hpp"

namespace dlnb::over_gloo {

void Message::post(::gloo::Context& context, const Transfer& t) {
  sends_ = t.kind == OperationKind::send;
  std::byte* const data = sends_ ? const_cast<std::byte*>(t.send) : t.receive;
  const std::size_t bytes = std::size_t((sends_ ? t.elements_sent : t.elements_received) * size_of(t.dtype));
  guarded([&] {
    buffer_ = context.createUnboundBuffer(data, bytes);
    if (sends_) buffer_->send(t.peer, slot_of_message(t.tag));
    else buffer_->recv(t.peer, slot_of_message(t.tag));
  });
}

void Message::wait() {
  guarded([&] { sends_ ? buffer_->waitSend(no_limit) : buffer_->waitRecv(no_limit); });
  buffer_.reset();
}

Watchers::~Watchers() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Watchers::watch(Message& message, Completion& completion) {
  completion.begin();
  const std::lock_guard lock(mutex_);
  queue_.push_back({&message, &completion});
  if (idle_ < queue_.size()) threads_.emplace_back([this] { work(); });
  arrived_.notify_one();
}

void Watchers::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    arrived_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty()) return;
    const Watched watched = queue_.front();
    queue_.pop_front();
    lock.unlock();
    try {
      watched.message->wait();
      watched.completion->end(nullptr);
    } catch (...) {
      watched.completion->end(std::current_exception());
    }
    lock.lock();
  }
}

}  // namespace dlnb::over_gloo
