#include "log.hpp"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <vector>

#include "qkv/core/error.hpp"

namespace qkv::app::log {
namespace {

/// "error: " and "warning: " in front of what is one, nothing in front of plain information.
class LevelFlag : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& to) override {
    const std::string_view word = message.level >= spdlog::level::err    ? "error: "
                                  : message.level == spdlog::level::warn ? "warning: "
                                                                         : "";
    to.append(word.data(), word.data() + word.size());
  }
  [[nodiscard]] std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
    return std::make_unique<LevelFlag>();
  }
};

spdlog::color_mode color_mode(Color color) {
  if (color == Color::always) return spdlog::color_mode::always;
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org
  const bool refused = no_color != nullptr && *no_color != '\0';
  return color == Color::never || refused ? spdlog::color_mode::never : spdlog::color_mode::automatic;
}

std::shared_ptr<spdlog::logger> make_logger(const Options& options) {
  auto terminal = std::make_shared<spdlog::sinks::stderr_color_sink_st>(color_mode(options.color));
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LevelFlag>('*').set_pattern("qkv: %^%*%$%v");
  terminal->set_formatter(std::move(formatter));
  terminal->set_level(options.verbosity < 0   ? spdlog::level::warn
                      : options.verbosity > 0 ? spdlog::level::debug
                                              : spdlog::level::info);
  std::vector<spdlog::sink_ptr> sinks{terminal};
  if (!options.file.empty()) {
    sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_st>(options.file, false));
    sinks.back()->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
  }
  auto logger = std::make_shared<spdlog::logger>("qkv", sinks.begin(), sinks.end());
  logger->set_level(spdlog::level::debug);
  logger->flush_on(spdlog::level::debug);
  return logger;
}

/// The log would make the directories that are missing in a name that is misspelt.
void require_writable(const std::string& file) {
  auto* opened = std::fopen(file.c_str(), "ab");
  if (opened == nullptr)
    throw Error(ErrorCode::failed,
                fmt::format("{}: the log file cannot be written: {}", file, std::generic_category().message(errno)));
  std::fclose(opened);
}

struct State {
  Options options;
  std::shared_ptr<spdlog::logger> logger = make_logger({});
};

State& state() {
  static State instance;
  return instance;
}

}  // namespace

void configure(const Options& options) {
  if (!options.file.empty()) require_writable(options.file);
  try {
    state() = {options, make_logger(options)};
  } catch (const spdlog::spdlog_ex& e) {
    throw Error(ErrorCode::failed, options.file + ": the log file cannot be written: " + e.what());
  }
}

void debug(const std::string& message) { state().logger->debug(message); }
void info(const std::string& message) { state().logger->info(message); }
void result(const std::string& message) {
  auto& terminal = *state().logger->sinks().front();
  const auto level = terminal.level();
  terminal.set_level(std::min(level, spdlog::level::info));
  state().logger->info(message);
  terminal.set_level(level);
}
void warn(const std::string& message) { state().logger->warn(message); }
void error(const std::string& message) { state().logger->error(message); }

bool colors_stdout() {
  const auto mode = color_mode(state().options.color);
  return mode == spdlog::color_mode::always || (mode == spdlog::color_mode::automatic && ::isatty(STDOUT_FILENO) == 1);
}

bool shows_progress() { return state().options.verbosity >= 0 && ::isatty(STDERR_FILENO) == 1; }

}  // namespace qkv::app::log
