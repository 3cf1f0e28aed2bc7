#include "output.hpp"

#include <fmt/format.h>
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

void put_text(OrderedJson& object, const std::string& key, std::string_view text) {
  object[key] = replace_invalid_utf8(text);
  if (is_valid_utf8(text)) return;
  std::string hex;
  for (const auto byte : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  object[key + "_hex"] = hex;
}

OrderedJson tokens_json(std::span<const TokenLabel> tokens) {
  auto list = OrderedJson::array();
  for (const auto& token : tokens) {
    OrderedJson one{{"id", token.id}};
    put_text(one, "text", token.text);
    list.push_back(std::move(one));
  }
  return list;
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(display_width(columns_[c].title));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  std::string text;
  const auto put_row = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& cell = cell_of(c);
      const std::string padding(widths[c] - display_width(cell), ' ');
      if (c > 0) line += "  ";
      line += columns_[c].right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  put_row([&](std::size_t c) -> const std::string& { return columns_[c].title; });
  for (const auto& row : rows_) put_row([&](std::size_t c) -> const std::string& { return row[c]; });
  return text;
}

}  // namespace qkv::app
