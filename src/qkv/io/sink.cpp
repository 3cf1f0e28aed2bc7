#include "qkv/io/sink.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "qkv/core/error.hpp"

namespace qkv {
namespace {

constexpr std::size_t buffer_size = 1U << 20U;  // rows are short; few large writes are faster

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)), buffer_(buffer_size) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path_, ignored);
  if (std::filesystem::is_directory(status)) fail(EISDIR);
  bool device = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  if (!device && std::filesystem::is_symlink(path_, ignored) && std::filesystem::exists(status)) {
    // What it points to is replaced, not the link. That of an open file without a name (/dev/stdout) leads nowhere.
    const auto target = std::filesystem::canonical(path_, ignored);
    if (target.empty())
      device = true;
    else
      path_ = target;
  }
  if (!device) temporary_ = fmt::format("{}.{}.part", path_.string(), ::getpid());
  // x: never into a file that is there already. A device or a pipe has no other name and is written as it is.
  file_ = device ? std::fopen(path_.c_str(), "wb") : std::fopen(temporary_.c_str(), "wbx");
  if (file_ == nullptr) fail(errno);
  std::setvbuf(file_, buffer_.data(), _IOFBF, buffer_.size());
}

AtomicFile::~AtomicFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail(errno);
}

void AtomicFile::commit() {
  const bool flushed = std::fflush(file_) == 0;
  const int error = errno;
  if (!flushed) fail(error);
  const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
  if (closed && (temporary_.empty() || std::rename(temporary_.c_str(), path_.c_str()) == 0)) return;
  const int why = errno;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  fail(why);
}

void AtomicFile::fail(int error) const {
  throw Error(ErrorCode::failed,
              fmt::format("{}: cannot be written: {}", path_.string(), std::generic_category().message(error)));
}

}  // namespace qkv
