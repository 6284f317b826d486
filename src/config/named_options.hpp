// SPDX-License-Identifier: Apache-2.0
// Kinds of options that runs and benchmarks share.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <dlnb/error.hpp>
#include <dlnb/options.hpp>

namespace dlnb {

// Text that names something: never empty, and one of `words` where there are any. Names from a registry are
// checked by the stage that owns it.
template <class Spec, std::size_t N>
struct Name {
  std::string_view name;
  std::string Spec::* member;
  std::string_view help;
  std::array<std::string_view, N> words;

  void read(const Value& value, std::string_view key, Spec& spec) const {
    std::string text;
    read_value(value, key, text);
    if (text.empty()) throw UserError(where_of(value, key), "must not be empty");
    if (N > 0 && std::find(words.begin(), words.end(), text) == words.end())
      unknown_word(value, key, {words.begin(), words.end()});
    spec.*member = std::move(text);
  }
  OptionInfo info(const Spec& defaults) const {
    std::string type = N > 0 ? "one of:" : "text";
    for (std::size_t i = 0; i < N; ++i) type += (i == 0 ? " " : ", ") + std::string(words[i]);
    return {std::string(name), type, defaults.*member, std::string(help)};
  }
};

template <class Spec>
constexpr Name<Spec, 0> named(std::string_view name, std::string Spec::* member, std::string_view help) {
  return {name, member, help, {}};
}

template <class Spec>
constexpr Name<Spec, 4> buffers_option() {
  return {
      "buffers",
      &Spec::buffers,
      "memory of what is sent and received: the host's, or, with an MPI that takes it, an accelerator's by "
      "CUDA or HIP; auto: nccl the accelerator's, rccl too, others the host's",
      {"auto", "host", "cuda", "hip"}};
}

// A folder; empty where there is none to name.
template <class Spec>
struct Folder {
  std::string_view name;
  std::string Spec::* member;
  std::string_view help;

  void read(const Value& value, std::string_view key, Spec& spec) const {
    read_value(value, key, spec.*member);
  }
  OptionInfo info(const Spec&) const { return {std::string(name), "folder", "", std::string(help)}; }
};

// A list of names: an array, or one text with commas between them.
template <class Spec>
struct HostNames {
  std::string_view name;
  std::vector<std::string> Spec::* member;
  std::string_view help;

  void read(const Value& value, std::string_view key, Spec& spec) const {
    std::vector<std::string> names;
    if (value.is_string()) {
      std::string text;
      read_value(value, key, text);
      for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        names.push_back(text.substr(begin, comma - begin));
        begin = comma + 1;
      }
    } else {
      read_value(value, key, names);
    }
    for (auto one = names.begin(); one != names.end(); ++one) {
      // A launcher would take such a word for a flag, or for several.
      if (one->empty() || one->front() == '-' || one->find_first_of(" \t\n,") != std::string::npos)
        throw UserError(where_of(value, key), in_quotes(*one) + " is no name", "for example h1,h2");
      if (std::find(names.begin(), one, *one) != one)
        throw UserError(where_of(value, key), in_quotes(*one) + " is there twice");
    }
    spec.*member = std::move(names);
  }
  OptionInfo info(const Spec&) const { return {std::string(name), "text", "", std::string(help)}; }
};

/// Throws UserError where devices are named and chosen as well.
inline void refuse_two_placements(const Value& tree) {
  const Value* const devices = tree.find("devices");
  if (devices && tree.find("placement"))
    throw UserError(where_of(*devices, "devices"), "placement says otherwise where ranks are put",
                    "leave one of them out");
}

/// Where ranks are started and how to start something there go together. Throws UserError.
template <class Spec>
void check_destination(const Value& tree, const Spec& request) {
  const auto at = [&](const char* key) { return where_of(*tree.find(key), key); };
  if (!request.testbed.empty() && (!request.hosts.empty() || !request.agent.empty()))
    throw UserError(at("testbed"),
                    "a testbed says itself what its hosts are and how to start something there",
                    "choose some of its hosts with " + request.testbed + ":h1,h2");
  if (request.hosts.empty() != request.agent.empty())
    throw UserError(request.hosts.empty() ? at("agent") : at("hosts"),
                    request.hosts.empty() ? "it is not said on which hosts"
                                          : "it is not said how to start something on these hosts",
                    "for example --hosts h1,h2 --agent ssh");
}

}  // namespace dlnb
