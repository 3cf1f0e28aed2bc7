#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"

namespace qkv::fuzz {

/// One input, as libFuzzer gives it: parts with a zero byte between them, the last one with all that is left.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : left_(reinterpret_cast<const char*>(data), size) {}

  /// Up to the next zero byte, which is dropped; everything where there is none.
  [[nodiscard]] std::string_view part() {
    const auto end = left_.find('\0');
    const auto taken = left_.substr(0, end);
    left_.remove_prefix(end == std::string_view::npos ? left_.size() : end + 1);
    return taken;
  }
  /// At most as many bytes as the next two say.
  [[nodiscard]] std::string_view counted() {
    std::size_t count = 0;
    for (std::size_t i = 0; i < 2 && !left_.empty(); ++i, left_.remove_prefix(1))
      count |= static_cast<std::size_t>(static_cast<unsigned char>(left_.front())) << (8 * i);
    const auto taken = left_.substr(0, count);
    left_.remove_prefix(taken.size());
    return taken;
  }
  [[nodiscard]] std::string_view rest() const { return left_; }

 private:
  std::string_view left_;
};

/// A directory for the files of one input, below $TMPDIR, which scripts/fuzz puts into memory. One for the whole
/// process, emptied for each input.
class Directory {
 public:
  Directory() : path_((std::filesystem::temp_directory_path() / "qkv-fuzz-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary directory: " + path_);
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  [[nodiscard]] std::filesystem::path path() const { return path_; }
  void clear() const {
    for (const auto& entry : std::filesystem::directory_iterator(path_)) std::filesystem::remove_all(entry);
  }
  [[nodiscard]] std::filesystem::path write(const std::filesystem::path& name, std::string_view bytes) const {
    const auto file = path() / name;
    std::ofstream stream(file, std::ios::binary | std::ios::trunc);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!stream.flush()) throw std::runtime_error("cannot write " + file.string());
    return file;
  }

 private:
  std::string path_;
};

/// Whether `action` came to its end. It may throw qkv::Error with a message of one line; whatever else it throws
/// reaches libFuzzer, and is a finding. So is std::bad_alloc: no input is large enough for it. With QKV_FUZZ_SAY in the
/// environment the messages are printed.
template <typename Action>
bool accepted(Action action) {
  try {
    action();
    return true;
  } catch (const Error& error) {
    static const bool say = std::getenv("QKV_FUZZ_SAY") != nullptr;
    if (say) std::cerr << error.what() << '\n';
    const std::string message = error.what();
    if (message != escape_controls(message)) throw std::runtime_error("not one line of text: " + message);
    return false;
  }
}

}  // namespace qkv::fuzz
