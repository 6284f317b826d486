// SPDX-License-Identifier: Apache-2.0
#include <dlnb/options.hpp>

#include <gtest/gtest.h>

#include <limits>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

template <class T>
T read(const std::string& text) {
  T out{};
  read_value(parse_value(text, "--x"), "x", out);
  return out;
}

template <class T>
std::string problem(const std::string& text) {
  try {
    read<T>(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ReadValue, KeepsDecimalAndBinaryApart) {
  EXPECT_EQ(read<Bytes>("25 MiB").value, 25 * 1024 * 1024);
  EXPECT_EQ(read<Bytes>("64 MB").value, 64 * 1000 * 1000);
  EXPECT_EQ(read<Bytes>("64MB").value, 64 * 1000 * 1000);
  EXPECT_EQ(read<Bytes>("0.3 MB").value, 300'000);
  EXPECT_EQ(read<Bytes>("1.5 KiB").value, 1536);
  EXPECT_EQ(read<Bytes>("4096").value, 4096);
}

TEST(ReadValue, KeepsBitsAndBytesApart) {
  EXPECT_DOUBLE_EQ(read<BytesPerSecond>("200 Gbit/s").value, 200e9 / 8);
  EXPECT_DOUBLE_EQ(read<BytesPerSecond>("25 GB/s").value, 25e9);
  EXPECT_DOUBLE_EQ(read<BytesPerSecond>("1 GiB/s").value, 1024.0 * 1024 * 1024);
}

TEST(ReadValue, ReadsTimesAndRates) {
  EXPECT_DOUBLE_EQ(read<Seconds>("1.5 us").value, 1.5e-6);
  EXPECT_DOUBLE_EQ(read<Seconds>("1.5 µs").value, 1.5e-6);
  EXPECT_DOUBLE_EQ(read<Seconds>("2 min").value, 2 * 60);
  EXPECT_DOUBLE_EQ(read<Seconds>("0").value, 0);
  EXPECT_DOUBLE_EQ(read<FlopsPerSecond>("312 TFLOP/s").value, 312e12);
}

TEST(ReadValue, ReadsRatios) {
  EXPECT_DOUBLE_EQ(read<double>("1/64"), 1.0 / 64);
  EXPECT_DOUBLE_EQ(read<double>(" 3 / 4 "), 3.0 / 4);
  EXPECT_DOUBLE_EQ(read<double>("0.25"), 0.25);
  EXPECT_DOUBLE_EQ(read<double>("2"), 2);
}

TEST(ReadValue, KnowsBothNamesOfAType) {
  EXPECT_EQ(read<DataType>("bf16"), DataType::bfloat16);
  EXPECT_EQ(read<DataType>("bfloat16"), DataType::bfloat16);
  EXPECT_EQ(read<DataType>("fp16"), DataType::float16);
  EXPECT_EQ(read<DataType>("fp32"), DataType::float32);
  EXPECT_EQ(read<DataType>("float8"), DataType::float8);
}

TEST(ReadValue, RefusesWhatIsNotMeant) {
  EXPECT_EQ(problem<Bytes>("25 Mib"), "--x: unknown unit 'Mib' in '25 Mib'");
  EXPECT_EQ(problem<Bytes>("25 mb"), "--x: unknown unit 'mb' in '25 mb'");
  EXPECT_EQ(problem<Bytes>("-1 MB"), "--x: must not be negative, found '-1 MB'");
  EXPECT_EQ(problem<Bytes>("-1"), "--x: must not be negative, found -1");
  EXPECT_EQ(problem<Bytes>("0.5 B"), "--x: the text '0.5 B' is not a whole number of bytes");
  EXPECT_EQ(problem<Bytes>("10000000000 GB"), "--x: the text '10000000000 GB' does not fit 63 bits");
  EXPECT_EQ(problem<Bytes>("1.5"), "--x: expected a size such as '25 MiB', found the number 1.5");
  EXPECT_EQ(problem<Bytes>("many"), "--x: expected a size such as '25 MiB', found the text 'many'");
  EXPECT_EQ(problem<Seconds>("60"), "--x: the integer 60 has no unit");
  EXPECT_EQ(problem<Seconds>("'60'"), "--x: '60' has no unit");
  EXPECT_EQ(problem<Seconds>("1 us us"), "--x: unknown unit 'us us' in '1 us us'");
  EXPECT_EQ(problem<Seconds>("nan s"), "--x: expected a time such as '1.5 us', found the text 'nan s'");
  EXPECT_EQ(problem<Seconds>("1e308 h"), "--x: expected a smaller number, found the text '1e308 h'");
  EXPECT_EQ(problem<BytesPerSecond>("200 Gb/s"), "--x: unknown unit 'Gb/s' in '200 Gb/s'");
  EXPECT_EQ(problem<FlopsPerSecond>("312 TFLOPS"), "--x: unknown unit 'TFLOPS' in '312 TFLOPS'");
  EXPECT_EQ(problem<int>("1.0"), "--x: expected an integer, found the number 1");
  EXPECT_EQ(problem<int>("3000000000"), "--x: must be between -2147483648 and 2147483647, found 3000000000");
  EXPECT_EQ(problem<std::int64_t>("9223372036854775808"),
            "--x: expected an integer, found the text '9223372036854775808'");
  EXPECT_EQ(problem<double>("1/0"), "--x: division by zero in '1/0'");
  EXPECT_EQ(problem<double>("1/"), "--x: expected a number or a ratio such as '1/64', found the text '1/'");
  EXPECT_EQ(problem<double>("1/2/3"),
            "--x: expected a number or a ratio such as '1/64', found the text '1/2/3'");
  EXPECT_EQ(problem<double>("nan"), "--x: must be a finite number, found the number nan");
  EXPECT_EQ(problem<double>("-inf"), "--x: must be a finite number, found the number -inf");
  EXPECT_EQ(problem<double>("1e400"),
            "--x: expected a number or a ratio such as '1/64', found the text '1e400'");
  EXPECT_EQ(problem<bool>("yes"), "--x: expected true or false, found the text 'yes'");
  EXPECT_EQ(problem<std::string>("7"), "--x: expected text, found the integer 7");
  EXPECT_EQ(problem<DataType>("bf61"), "--x: nothing is called 'bf61'");
}

TEST(ReadValue, ListsTheUnits) {
  try {
    read<Seconds>("3 sec");
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_EQ(error.hint(), "units: s, ms, us, µs, ns, min, h");
  }
}

TEST(WriteValue, IsWhatAUserWouldWrite) {
  EXPECT_EQ(write_value(Bytes{25 << 20}), "25 MiB");
  EXPECT_EQ(write_value(Bytes{64'000'000}), "64 MB");
  EXPECT_EQ(write_value(Bytes{1001}), "1001");
  EXPECT_EQ(write_value(Seconds{1.5e-6}), "1.5 us");
  EXPECT_EQ(write_value(Seconds{60}), "60 s");
  EXPECT_EQ(write_value(BytesPerSecond{25e9}), "25 GB/s");
  EXPECT_EQ(write_value(FlopsPerSecond{312e12}), "312 TFLOP/s");
  EXPECT_EQ(write_value(std::vector<std::string>{"a", "b"}), "[a, b]");
}

TEST(WriteValue, ReadsBackTheSame) {
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1024}, std::int64_t{1000},
                                   std::int64_t{123'456'789}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(read<Bytes>(write_value(Bytes{bytes})).value, bytes);
  for (const double number : {0.0, 1.5e-6, 1.0 / 3, 1e-12, 60.0, 86400.0, 0.1, 2.7e-9, 1e9 / 7}) {
    EXPECT_EQ(read<Seconds>(write_value(Seconds{number})).value, number);
    EXPECT_EQ(read<BytesPerSecond>(write_value(BytesPerSecond{number})).value, number);
    EXPECT_EQ(read<FlopsPerSecond>(write_value(FlopsPerSecond{number})).value, number);
    EXPECT_EQ(read<double>(write_value(number)), number);
  }
}

TEST(CheckRange, NamesTheLimit) {
  const auto outside = [](double number, Range range) {
    try {
      check_range(Value(number, "--x"), "x", number, range);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("inside");
  };

  EXPECT_EQ(outside(0, positive), "--x: must be at least 1, found the number 0");
  EXPECT_EQ(outside(0, above_zero), "--x: must be above zero, found the number 0");
  EXPECT_EQ(outside(9, {0, 8}), "--x: must be at most 8, found the number 9");
  EXPECT_EQ(outside(8, {0, 8}), "inside");
}

struct Params {
  Bytes bucket{25 << 20};
  int prefetch = 1;
};
constexpr auto params = options(option("bucket", &Params::bucket, "gradient bytes per all-reduce", positive),
                                option("prefetch", &Params::prefetch, "layers gathered ahead", Range{0, 8}));

TEST(Options, DescribeThemselves) {
  const std::vector<OptionInfo> info = params.info(Params{});

  ASSERT_EQ(info.size(), 2u);
  EXPECT_EQ(info[0].name, "bucket");
  EXPECT_EQ(info[0].type, "size");
  EXPECT_EQ(info[0].fallback, "25 MiB");
}

TEST(Options, LeaveWhatIsNotGiven) {
  Params read{};

  params.read(parse_value("{prefetch=3}", "--x"), "x", read);

  EXPECT_EQ(read.prefetch, 3);
  EXPECT_EQ(read.bucket.value, 25 << 20);
}

TEST(Options, RejectUnknownMembers) {
  Params read{};
  try {
    params.read(parse_value("{prefech=3}", "--x"), "x", read);
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "--x x.prefech: nothing is called 'prefech'");
    EXPECT_EQ(error.hint(), "did you mean 'prefetch'? choose one of: bucket, prefetch");
  }
}

}  // namespace
}  // namespace dlnb
