#include "progress_line.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "log.hpp"

namespace qkv::app {

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

bool ProgressLine::is_due() const {
  constexpr auto patience = std::chrono::milliseconds(300);
  constexpr auto pause = std::chrono::milliseconds(100);
  const auto now = Clock::now();
  return now - begun_ >= patience && now - last_ >= pause;
}

void ProgressLine::show(std::string_view text) {
  if (!log::shows_progress()) return;
  last_ = Clock::now();
  shown_ = true;
  fmt::print(stderr, "\r{}\033[K", text);
  std::fflush(stderr);
}

}  // namespace qkv::app
