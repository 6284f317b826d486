// SPDX-License-Identifier: Apache-2.0
#include "executor/live/modules/gloo/rendezvous.hpp"

#include <arpa/inet.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "executor/live/modules/gloo/failures.hpp"
#include "executor/live/modules/gloo/limits.hpp"

namespace dlnb::over_gloo {
namespace {

namespace tcp = ::gloo::transport::tcp;

/// Our store, under a prefix. gloo's own FileStore would do; ours is there already and names what is missing.
class PrefixedStore final : public ::gloo::rendezvous::Store {
 public:
  PrefixedStore(const dlnb::Store& store, std::string prefix) : store_(store), prefix_(std::move(prefix)) {}

  void set(const std::string& key, const std::vector<char>& value) override {
    store_.set(prefix_ + key, std::string_view(value.data(), value.size()));
  }
  std::vector<char> get(const std::string& key) override {
    const std::string value = store_.get(prefix_ + key, patience);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, patience); }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& limit) override {
    for (const std::string& key : keys) store_.get(prefix_ + key, limit);
  }

 private:
  const dlnb::Store& store_;
  const std::string prefix_;
};

tcp::attr attributes(const std::string& host) {
  tcp::attr wanted(host.empty() ? "127.0.0.1" : host.c_str());
  if (const char* const interface = std::getenv("GLOO_SOCKET_IFNAME")) wanted.iface = interface;
  return guarded([&] { return tcp::CreateDeviceAttr(wanted); });
}

bool is_loopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

std::vector<pid_t> threads_of_this_process() {
  std::vector<pid_t> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    threads.push_back(std::stoi(entry.path().filename().string()));
  std::ranges::sort(threads);
  return threads;
}

/// Differs between hosts and between network namespaces of one.
std::string network_of_this_host() {
  std::array<char, 256> name{}, space{};
  gethostname(name.data(), name.size() - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  const ssize_t length = readlink("/proc/self/ns/net", space.data(), space.size());
  return std::string(name.data()) + " " + boot + " " +
         std::string(space.data(), std::size_t(std::max<ssize_t>(length, 0)));
}

/// All members make the `nth` communicator of theirs at the same time; members' lists are too long for a name.
std::string prefix_of(std::span<const int> members, int nth) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const int member : members) hash = (hash ^ std::uint64_t(member)) * 1099511628211u;
  return "gloo-" + std::to_string(members.size()) + "-" + std::to_string(hash) + "-" + std::to_string(nth) +
         "-";
}

}  // namespace

Rendezvous::Rendezvous(const ModuleOptions& options) : rank_(options.rank), folder_(options.store) {
  if (options.size == 1) return;
  const tcp::attr where = attributes(options.host);
  on_loopback_ = is_loopback(where.ai_addr);
  const std::vector<pid_t> before = threads_of_this_process();
  device_ = guarded([&] { return tcp::CreateDevice(where); });
  std::ranges::set_difference(threads_of_this_process(), before, std::back_inserter(threads_));
  check_reachable();
}

void Rendezvous::share_cores() const {
  const sched_param none{};
  for (const pid_t thread : threads_) sched_setscheduler(thread, SCHED_BATCH, &none);
}

void Rendezvous::check_reachable() {
  const dlnb::Store store(folder_);
  const std::string own = (on_loopback_ ? "loopback " : "network ") + network_of_this_host();
  if (rank_ == 0) return store.set("gloo-first", own);
  const std::string first = store.get("gloo-first", patience);
  const auto host_of = [](const std::string& text) { return text.substr(text.find(' ') + 1); };
  if (host_of(own) != host_of(first) && (on_loopback_ || first.starts_with("loopback")))
    throw std::runtime_error("gloo: ranks 0 and " + std::to_string(rank_) +
                             " are on different hosts and would listen on loopback; name the network "
                             "interface with GLOO_SOCKET_IFNAME");
}

std::shared_ptr<::gloo::Context> Rendezvous::connect(std::span<const int> members) {
  if (members.size() == 1) return nullptr;
  const int nth = made_[{members.begin(), members.end()}]++;
  const int place = int(std::ranges::lower_bound(members, rank_) - members.begin());
  const dlnb::Store store(folder_);
  PrefixedStore prefixed(store, prefix_of(members, nth));
  return guarded([&] {
    auto context = std::make_shared<::gloo::rendezvous::Context>(place, int(members.size()));
    context->setTimeout(patience / 5);  // gloo takes five times this for a connection
    context->connectFullMesh(prefixed, device_);
    context->setTimeout(no_limit);
    return context;
  });
}

}  // namespace dlnb::over_gloo
