// SPDX-License-Identifier: Apache-2.0
#include "core/log.hpp"

#include <cstdlib>
#include <memory>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <dlnb/error.hpp>

#include "core/progress.hpp"

namespace dlnb::log {
namespace {

using Sink = spdlog::sinks::stderr_color_sink_mt;

// https://no-color.org: set and not empty means no colour; otherwise colour where stderr is a terminal.
spdlog::color_mode usual_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  return no_colour && *no_colour ? spdlog::color_mode::never : spdlog::color_mode::automatic;
}

struct Talk {
  std::shared_ptr<Sink> sink = std::make_shared<Sink>(usual_colour());
  spdlog::logger logger{"dlnetbench", sink};

  Talk() {
    logger.set_pattern("%^%l%$: %v");
    logger.set_level(spdlog::level::info);
    logger.flush_on(spdlog::level::trace);
  }
};

Talk& talk() {
  static Talk talk;
  return talk;
}

// The text is data, never a format, and may name files that are called anything.
void say(spdlog::level::level_enum level, std::string_view message) {
  if (!talk().logger.should_log(level)) return;
  const std::string text = printable(message);
  progress::clear();
  talk().logger.log(level, spdlog::string_view_t(text));
}

}  // namespace

void set_level(Level level) {
  switch (level) {
    case Level::quiet: return talk().logger.set_level(spdlog::level::warn);
    case Level::info: return talk().logger.set_level(spdlog::level::info);
    case Level::debug: return talk().logger.set_level(spdlog::level::debug);
    case Level::trace: return talk().logger.set_level(spdlog::level::trace);
  }
}

void set_colour(bool colour) {
  talk().sink->set_color_mode(colour ? usual_colour() : spdlog::color_mode::never);
}

void trace(std::string_view message) { say(spdlog::level::trace, message); }
void debug(std::string_view message) { say(spdlog::level::debug, message); }
void info(std::string_view message) { say(spdlog::level::info, message); }
void warn(std::string_view message) { say(spdlog::level::warn, message); }

}  // namespace dlnb::log
