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
  temporary_ = path_;
  temporary_ += fmt::format(".{}.part", ::getpid());
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored)) fail(EISDIR);
  file_ = std::fopen(temporary_.c_str(), "wbx");  // x: never into a file that is there already
  if (file_ == nullptr) fail(errno);
  std::setvbuf(file_, buffer_.data(), _IOFBF, buffer_.size());
}

AtomicFile::~AtomicFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail(errno);
}

void AtomicFile::commit() {
  const bool flushed = std::fflush(file_) == 0;
  const int error = errno;
  if (!flushed) fail(error);
  if (std::fclose(std::exchange(file_, nullptr)) != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int why = errno;
    ::unlink(temporary_.c_str());
    fail(why);
  }
}

void AtomicFile::fail(int error) const {
  throw Error(ErrorCode::failed,
              fmt::format("{}: cannot be written: {}", path_.string(), std::generic_category().message(error)));
}

}  // namespace qkv
