#include "output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "interrupt.hpp"
#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"

namespace qkv::app {
namespace {

[[noreturn]] void fail() {
  stop_if_interrupted();  // a write that Ctrl-C cut off is no fault of the disk
  throw Error(ErrorCode::failed,
              fmt::format("standard output: cannot be written: {}", std::generic_category().message(errno)));
}

}  // namespace

void write_out(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) fail();
}

void write_out_now(std::string_view bytes) {
  write_out(bytes);
  if (std::fflush(stdout) != 0) fail();
}

bool stdout_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

OrderedJson tokens_json(std::span<const TokenLabel> tokens) {
  auto list = OrderedJson::array();
  for (const auto& token : tokens) {
    OrderedJson one{{"id", token.id}};
    put_text(one, "text", token.text);
    list.push_back(std::move(one));
  }
  return list;
}

std::vector<std::vector<std::string>> TextTable::padded() const {
  std::vector<std::vector<std::string>> all{{}};
  for (const auto& column : columns_) all.front().push_back(column.title);
  all.insert(all.end(), rows_.begin(), rows_.end());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = 0;
    for (const auto& row : all) width = std::max(width, display_width(row[c]));
    for (auto& row : all) {
      const std::string padding(width - display_width(row[c]), ' ');
      row[c] = columns_[c].right ? padding + row[c] : row[c] + padding;
    }
  }
  return all;
}

std::string TextTable::text() const {
  std::string text;
  for (const auto& row : padded()) {
    auto line = fmt::format("{}", fmt::join(row, "  "));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line;
    text += '\n';
  }
  return text;
}

std::string TextTable::markdown() const {
  std::string text;
  for (const auto& row : padded()) {
    text += fmt::format("| {} |\n", fmt::join(row, " | "));
    if (text.find('\n') + 1 < text.size()) continue;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      text += fmt::format("|{}{}", std::string(row[c].size() + 1, '-'), columns_[c].right ? ":" : "-");
    text += "|\n";
  }
  return text;
}

}  // namespace qkv::app
