#include "input.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <vector>

#include "qkv/core/error.hpp"

namespace qkv::app {
namespace {

struct Close {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

}  // namespace

std::string read_input(const std::string& path) {
  const auto name = path == "-" ? std::string("standard input") : path;
  const auto fail = [&] {
    throw Error(ErrorCode::input, fmt::format("{}: cannot be read: {}", name, std::generic_category().message(errno)));
  };
  const std::unique_ptr<std::FILE, Close> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) fail();
  std::string text;
  std::vector<char> chunk(1U << 16U);
  while (const auto count = std::fread(chunk.data(), 1, chunk.size(), file.get())) text.append(chunk.data(), count);
  if (std::ferror(file.get()) != 0) fail();
  return text;
}

bool stdin_is_terminal() { return ::isatty(STDIN_FILENO) == 1; }

}  // namespace qkv::app
