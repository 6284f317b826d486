// SPDX-License-Identifier: Apache-2.0
// fuzz_files INPUTS [SEED] [FOLDER]
// Throws changed machine files, topologies of batch systems and run specs at the readers, which have to give a value or a
// UserError (Unavailable): nothing else, and within `longest` seconds of CPU time. The corpus is what is shipped in data/ and the
// fixtures of the tests; what is changed are values, lines and letters, so that most inputs come past the syntax.
// The input under way lies in FOLDER, so that a crash leaves it there. Exit 1: one was refused with another exception,
// or took too long. Meant for the sanitizers: cmake --preset asan -DDLNB_BENCH=ON.
#include <fmt/format.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <dlnb/error.hpp>
#include <dlnb/run.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "core/data.hpp"
#include "machine/machine.hpp"
#include "machine/slurm.hpp"

namespace fs = std::filesystem;

namespace dlnb {
namespace {

constexpr int longest = 20;                     // CPU seconds that an input may take
constexpr std::int64_t most_devices = 100'000;  // of a machine that routes are asked of

enum class Kind { machine, topology, spec };
constexpr std::array names{"machine files", "topologies", "run specs"};

struct Seed {
  Kind kind;
  std::string text;
};

constexpr std::array values{"0",
                            "-1",
                            "1",
                            "2",
                            "7",
                            "64",
                            "1e30",
                            "99999999",
                            "4294967296",
                            "0.5",
                            "nan",
                            "inf",
                            "-0.0",
                            "'x'",
                            "''",
                            "'0 GB/s'",
                            "'1 us'",
                            "'1 EB/s'",
                            "true",
                            "[]",
                            "{}",
                            "'n[1-99]'",
                            "'0-9'",
                            "'mesh'",
                            "'torus'",
                            "'fat_tree'",
                            "'dragonfly'",
                            "'dragonfly_plus'",
                            "'switch'",
                            "'slurm_tree'",
                            "'ring'",
                            "'adaptive'",
                            "'spray'",
                            "'minimal'",
                            "'tensor=4,data=rest'",
                            "'dp'",
                            "'inter-group'",
                            "'2x2x2'",
                            "9223372036854775807",
                            "[[1, 2], 'a']",
                            "'\\u0000'",
                            "1979-05-27T07:32:00Z"};

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Machines with few nodes, so that most of the time goes into reading and not into laying cables.
std::string small(std::string text) {
  const std::size_t at = text.find("\nnodes = ");
  if (at != std::string::npos) text.replace(at, text.find_first_of(" #\n", at + 9) - at, "\nnodes = 8");
  return text;
}

std::vector<Seed> corpus(const fs::path& fixtures) {
  std::vector<Seed> seeds;
  for (const std::string& name : shipped_machines())
    seeds.push_back({Kind::machine, small(read(data_folder() / "machines" / (name + ".toml")))});
  for (const char* name : {"topology.conf", "scontrol.txt"})
    if (fs::exists(fixtures / name)) seeds.push_back({Kind::topology, read(fixtures / name)});
  seeds.push_back(
      {Kind::topology, "SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[5-8]\nSwitchName=t Switches=a,b\n"});
  seeds.push_back({Kind::topology, "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n"});
  seeds.push_back({Kind::spec,
                   "machine = 'leonardo'\nnodes = 8\nplacement = 'random'\nranks = 16\nmessage_scale = 0.5\n"
                   "[[job]]\nname = 'a'\nmodel = 'llama3-8b'\nplan = 'dp+pp'\nstart = '1 ms'\n"
                   "[[job]]\nname = 'b'\nmodel = 'vit-h'\nplan = 'dp'\nseed = 2\nrepeat = true\n"});
  seeds.push_back(
      {Kind::spec,
       "model = 'llama3-8b'\nranks = 32\nbatch = 8\nsequence = 4096\ndtype = 'bfloat16'\niterations = 3\n"
       "warmup = 1\ncost_model = 'exact'\nrecompute = 'full'\n[plan]\ntensor = 4\n"
       "pipeline = { stages = 4, microbatches = 8, schedule = '1f1b' }\ndata = 'rest'\n"});
  for (const auto& entry : fs::directory_iterator(data_folder() / "plans"))
    seeds.push_back({Kind::spec, "model = 'llama3-8b'\nranks = 64\nplan = 'x'\n" + read(entry.path())});
  return seeds;
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return std::size_t(random_()) % n; }
  std::uint64_t number() { return random_(); }

  // One to three changes of a value, a line or some letters; now and then a piece of another seed.
  std::string changed(std::string text, const std::string& other) {
    for (std::size_t change = 1 + below(3); change > 0; --change) {
      const auto [begin, end] = line(text);
      const std::size_t equals = text.find('=', begin);
      switch (below(9)) {
        case 0:
        case 1:
        case 2:
          if (equals < end)
            text.replace(equals + 1, end - equals - 1, std::string(" ") + values[below(values.size())]);
          break;
        case 3: text.erase(begin, end - begin); break;
        case 4: text.insert(begin, text.substr(line(text).first, below(80)) + "\n"); break;
        case 5: {
          const auto [from, to] = line(other);
          text.insert(begin, other.substr(from, to - from) + "\n");
          break;
        }
        case 6:
          if (begin < end) text.erase(begin + below(end - begin), 1 + below(6));
          break;
        case 7:
          if (begin < end)
            text.insert(begin + below(end - begin), std::to_string(random_()).substr(0, 1 + below(12)));
          break;
        default:
          if (begin < end) text[begin + below(end - begin)] = char(below(256));
      }
      if (text.empty()) text = "x";
    }
    return text;
  }

 private:
  std::pair<std::size_t, std::size_t> line(const std::string& text) {
    const std::size_t at = below(text.size());
    const std::size_t before = text.rfind('\n', at == 0 ? 0 : at - 1);
    const std::size_t begin = before == std::string::npos ? 0 : std::min(before + 1, text.size() - 1);
    return {begin, std::min(text.find('\n', begin), text.size())};
  }

  std::mt19937_64 random_;
};

void use(const Machine& machine, Mutator& mutator) {
  const std::int64_t devices = machine.devices();
  if (devices > most_devices) return;
  std::vector<LinkIndex> links;
  for (int pair = 0; pair < 8; ++pair) {
    links.clear();
    machine.route(int(mutator.below(std::size_t(devices))), int(mutator.below(std::size_t(devices))),
                  mutator.number(), links);
    for (const LinkIndex link : links)
      if (!(machine.link(link).capacity.value > 0))
        throw std::logic_error("a route over a link without capacity");
  }
  const auto& kinds = placements::all();
  const PlacementKind& kind = *kinds[mutator.below(kinds.size())];
  place(machine, 1 + std::int64_t(mutator.below(std::size_t(devices))), std::string(kind.name), 1, "--ranks");
}

void throw_at(Kind kind, const fs::path& file, const std::string& text, Mutator& mutator) {
  if (kind == Kind::topology) {
    parse_slurm_topology(text, "t");
    return;
  }
  std::ofstream(file, std::ios::binary) << text;
  if (kind == Kind::machine) use(load_machine(file.string(), "--machine"), mutator);
  else read_jobs({file}, Value{});
}

// 0: no limit any more.
void limit(int seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

extern "C" void too_long(int) {
  constexpr char text[] = "an input took too long; it lies in the folder\n";
  [[maybe_unused]] const auto written = write(2, text, sizeof text - 1);
  _exit(1);
}

int main_of(int count, char** words) {
  if (count < 2) {
    fmt::print(stderr, "usage: fuzz_files INPUTS [SEED] [FOLDER]\n");
    return 2;
  }
  const std::int64_t inputs = std::atoll(words[1]);
  const std::uint64_t seed = count > 2 ? std::strtoull(words[2], nullptr, 10) : 1;
  const fs::path folder = count > 3 ? fs::path(words[3]) : fs::temp_directory_path() / "dlnb-fuzz";
  fs::create_directories(folder);
  const std::vector<Seed> seeds = corpus(fs::path(DLNB_FIXTURES) / "slurm");
  Mutator mutator{seed};
  std::array<std::int64_t, names.size()> thrown{}, taken{};
  std::array<double, names.size()> slowest{};
  signal(SIGPROF, too_long);
  for (std::int64_t input = 0; input < inputs; ++input) {
    const Seed& chosen = seeds[mutator.below(seeds.size())];
    const auto kind = std::size_t(chosen.kind);
    const std::string text = mutator.changed(chosen.text, seeds[mutator.below(seeds.size())].text);
    const fs::path file = folder / "input.toml";
    if (chosen.kind == Kind::topology) std::ofstream(folder / "input.conf", std::ios::binary) << text;
    const auto begin = std::chrono::steady_clock::now();
    limit(longest);
    try {
      throw_at(chosen.kind, file, text, mutator);
      ++taken[kind];
    } catch (const UserError&) {
    } catch (const Unavailable&) {
    } catch (const std::exception& error) {
      fmt::print(stderr, "input {}: {}\n{}\n", input, error.what(), text);
      return 1;
    }
    limit(0);
    ++thrown[kind];
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (seconds > slowest[kind]) {
      slowest[kind] = seconds;
      if (seconds > 1) std::ofstream(folder / fmt::format("slow-{}.toml", kind), std::ios::binary) << text;
    }
  }
  for (std::size_t kind = 0; kind < names.size(); ++kind)
    fmt::print("{:14} {:9} thrown, {:9} read, slowest {:.3f} s\n", names[kind], thrown[kind], taken[kind],
               slowest[kind]);
  return 0;
}

}  // namespace
}  // namespace dlnb

int main(int count, char** words) { return dlnb::main_of(count, words); }
