// SPDX-License-Identifier: Apache-2.0
#include "core/provenance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "unit/environment.hpp"

namespace dlnb {
namespace {

const std::string* variable(const Provenance& provenance, const std::string& name) {
  for (const auto& [key, value] : provenance.environment)
    if (key == name) return &value;
  return nullptr;
}

TEST(Provenance, OfTheProgramIsTheSameEveryTime) {
  const Provenance one = provenance_of_program();

  EXPECT_TRUE(std::regex_match(one.version, std::regex("[0-9]+\\.[0-9]+\\.[0-9]+"))) << one.version;
  EXPECT_TRUE(std::regex_match(one.commit, std::regex("unknown|[0-9a-f]{12,40}(-dirty)?"))) << one.commit;
  EXPECT_TRUE(std::regex_search(one.compiler, std::regex("[A-Za-z]+ [0-9]+"))) << one.compiler;
  EXPECT_EQ(one.time + one.host, "");
  EXPECT_TRUE(one.environment.empty());
}

TEST(Provenance, OfTheHostHasTimeAndVariables) {
  const Environment nccl("NCCL_ALGO", "Ring"), other("SHELL_COLOUR", "green");

  const Provenance here = provenance_of_this_host();

  EXPECT_TRUE(std::regex_match(here.time, std::regex("2[0-9]{3}-[01][0-9]-[0-3][0-9]T[0-9:]{8}Z")))
      << here.time;
  EXPECT_FALSE(here.host.empty());
  ASSERT_NE(variable(here, "NCCL_ALGO"), nullptr);
  EXPECT_EQ(*variable(here, "NCCL_ALGO"), "Ring");
  EXPECT_EQ(variable(here, "SHELL_COLOUR"), nullptr);
  EXPECT_TRUE(std::is_sorted(here.environment.begin(), here.environment.end()));
}

TEST(Provenance, KeepsNoSecrets) {
  const Environment a("NCCL_AUTH_TOKEN", "x"), b("OMPI_MCA_orte_precondition_transports", "x"),
      c("UCX_PASSWORD", "x"), d("SLURM_JWT", "x"), e("NCCL_PROXY", "x"), f("OMPI_REMOTE", "user:word@host");

  const Provenance here = provenance_of_this_host();

  for (const char* name : {"NCCL_AUTH_TOKEN", "OMPI_MCA_orte_precondition_transports", "UCX_PASSWORD",
                           "SLURM_JWT", "NCCL_PROXY", "OMPI_REMOTE"})
    EXPECT_EQ(variable(here, name), nullptr) << name;
}

}  // namespace
}  // namespace dlnb
