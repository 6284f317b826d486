// SPDX-License-Identifier: Apache-2.0
#include "config/coll_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlnb/error.hpp>

#include "unit/scratch.hpp"

namespace dlnb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CollSpec spec_of(const std::vector<std::pair<std::string, std::string>>& given) {
  std::vector<Assignment> assignments;
  for (const auto& [key, text] : given) assignments.push_back({key, text, "--" + key});
  CollSpec spec = read_coll_spec({}, make_coll_overrides(assignments));
  if (spec.ranks == 0) spec.ranks = 4;
  check_coll_spec(spec);
  return spec;
}

std::string refusal(const std::vector<std::pair<std::string, std::string>>& given) {
  try {
    spec_of(given);
  } catch (const UserError& error) {
    return error.what();
  }
  return "was not refused";
}

TEST(CollSpec, ReadsListsInTheirOrder) {
  const CollSpec spec = spec_of({{"operation", "broadcast,all-reduce,broadcast"}, {"dtype", "bf16,float8"}});

  EXPECT_THAT(spec.operations, ElementsAre(CollOperation::broadcast, CollOperation::all_reduce));
  EXPECT_THAT(spec.dtypes, ElementsAre(DataType::bfloat16, DataType::float8));
  EXPECT_EQ(spec_of({{"operation", "all"}}).operations.size(), std::size_t(coll_operations));
  EXPECT_EQ(spec_of({{"operation", "[barrier]"}}).operations.size(), 1u);
}

TEST(CollSpec, ReadsSizesWithUnits) {
  const CollSpec spec = spec_of({{"min_size", "1KiB"}, {"max_size", "64MiB"}, {"factor", "4"}});

  EXPECT_EQ(spec.min_size.value, 1024);
  EXPECT_EQ(spec.max_size.value, 67'108'864);
  EXPECT_EQ(spec.factor, 4);
}

TEST(CollSpec, ReadsAFileAndOverridesIt) {
  const Scratch scratch;
  const auto file =
      scratch.write("coll.toml", "operation = ['barrier', 'send-recv']\nranks = 8\ngroups = 2\n");

  const CollSpec spec = read_coll_spec({file}, make_coll_overrides({{"ranks", "16", "--ranks"}}));

  EXPECT_THAT(spec.operations, ElementsAre(CollOperation::barrier, CollOperation::send_recv));
  EXPECT_EQ(spec.ranks, 16);
  EXPECT_EQ(spec.groups, 2);
}

TEST(CollSpec, RefusesWhatDoesNotGoTogether) {
  EXPECT_THAT(refusal({{"operation", "allreduce"}}), HasSubstr("--operation"));
  for (const char* list : {"all-reduce,,barrier", "all-reduce,", ",barrier"})
    EXPECT_THAT(refusal({{"operation", list}}),
                HasSubstr(std::string("--operation: a word is missing beside a comma in '") + list));
  EXPECT_THAT(refusal({{"dtype", "int8"}}), HasSubstr("--dtype"));
  EXPECT_THAT(refusal({{"min_size", "2 MiB"}, {"max_size", "1 MiB"}}), HasSubstr("--min_size"));
  EXPECT_THAT(refusal({{"min_size", "0"}}), HasSubstr("--min_size"));
  EXPECT_THAT(refusal({{"factor", "1"}}), HasSubstr("--factor"));
  EXPECT_THAT(refusal({{"factor", "2"}, {"step", "1 MiB"}}), HasSubstr("--step"));
  EXPECT_THAT(refusal({{"step", "1 B"}}), HasSubstr("67107841 sizes"));
  EXPECT_THAT(refusal({{"ranks", "4"}, {"groups", "3"}}), HasSubstr("--groups"));
  EXPECT_THAT(refusal({{"operation", "send-recv"}, {"pattern", "ping-pong"}, {"ranks", "3"}}),
              HasSubstr("--pattern"));
  EXPECT_THAT(refusal({{"operation", "send-recv"}, {"pattern", "one-way"}, {"overlap", "true"}}),
              HasSubstr("--overlap"));
  EXPECT_THAT(refusal({{"skew", "1.5"}}), HasSubstr("--skew"));
  EXPECT_THAT(refusal({{"model", "vit-h"}}), HasSubstr("model"));
}

TEST(CollSpec, EveryOptionHasHelp) {
  for (const OptionInfo& option : coll_options()) EXPECT_FALSE(option.help.empty()) << option.name;
}

}  // namespace
}  // namespace dlnb
