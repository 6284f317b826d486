// SPDX-License-Identifier: Apache-2.0
#include "core/provenance.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>

#include <fmt/chrono.h>

#include "core/build.hpp"

namespace dlnb {
namespace {

// Variables that change what a live run measures: the libraries' own, binding, and the batch job.
constexpr std::array<std::string_view, 18> prefixes{"CCL_",   "CUDA_VISIBLE_DEVICES",
                                                    "FI_",    "GLOO_",
                                                    "GOMP_",  "HIP_VISIBLE_DEVICES",
                                                    "HSA_",   "KMP_",
                                                    "MPICH_", "MPIR_",
                                                    "NCCL_",  "OMP_",
                                                    "OMPI_",  "PSM3_",
                                                    "RCCL_",  "ROCR_VISIBLE_DEVICES",
                                                    "UCX_",   "DLNETBENCH_"};
constexpr std::array<std::string_view, 7> exactly{
    "SLURM_CPUS_PER_TASK", "SLURM_JOB_ID",          "SLURM_JOB_NODELIST", "SLURM_JOB_NUM_NODES",
    "SLURM_NTASKS",        "SLURM_NTASKS_PER_NODE", "SLURM_JOB_PARTITION"};
// Nothing that could be a credential is kept; launchers pass their own (keys, contact addresses) in the same
// prefixes.
constexpr std::array<std::string_view, 11> kept_out{
    "AUTH", "COOKIE", "CRED", "KEY", "PASS", "SECRET", "TOKEN", "URI", "PROXY", "TRANSPORTS", "CONTACT"};

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = char(c - 'a' + 'A');
  return out;
}

bool matters(std::string_view name, std::string_view value) {
  const bool listed =
      std::find(exactly.begin(), exactly.end(), name) != exactly.end() ||
      std::any_of(prefixes.begin(), prefixes.end(), [&](auto p) { return name.starts_with(p); });
  if (!listed || value.find('@') != std::string_view::npos) return false;  // user:password@host
  const std::string capitals = upper(name);
  return std::none_of(kept_out.begin(), kept_out.end(),
                      [&](auto word) { return capitals.find(word) != std::string::npos; });
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace

Provenance provenance_of_program() {
  Provenance provenance;
  provenance.version = build::version;
  provenance.commit = build::commit;
  provenance.compiler = build::compiler;
  return provenance;
}

Provenance provenance_of_this_host() {
  Provenance provenance = provenance_of_program();
  provenance.time = time_now();
  provenance.host = host_name();
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals), value = text.substr(equals + 1);
    if (matters(name, value)) provenance.environment.emplace_back(name, value);
  }
  std::sort(provenance.environment.begin(), provenance.environment.end());
  return provenance;
}

}  // namespace dlnb
