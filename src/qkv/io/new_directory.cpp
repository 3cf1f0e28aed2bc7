#include "qkv/io/new_directory.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include "qkv/core/error.hpp"

namespace qkv {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, int error) {
  throw Error(ErrorCode::failed,
              fmt::format("{}: cannot be written: {}", path.string(), std::generic_category().message(error)));
}

/// The path without a slash at its end, so that a name can be appended.
fs::path without_slash(fs::path path) {
  path = path.lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

fs::path sibling(const fs::path& path, const char* ending) {
  return fmt::format("{}.{}.{}", path.string(), ::getpid(), ending);
}

}  // namespace

NewDirectory::NewDirectory(fs::path target)
    : target_(without_slash(std::move(target))), temporary_(sibling(target_, "part")) {
  constexpr mode_t all_that_umask_allows = 0777;
  if (::mkdir(temporary_.c_str(), all_that_umask_allows) != 0) fail(target_, errno);
}

NewDirectory::~NewDirectory() {
  if (committed_) return;
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);  // made by us, so all in it is ours
}

void NewDirectory::commit() {
  rename(temporary_, target_);
  committed_ = true;
}

void NewDirectory::commit_over(const std::vector<fs::path>& replaced) {
  const auto old = sibling(target_, "old");
  rename(target_, old);
  try {
    commit();
  } catch (const Error&) {
    rename(old, target_);
    throw;
  }
  for (const auto& path : replaced) (void)std::remove((old / path).c_str());  // a file, or an empty directory
  if (std::remove(old.c_str()) == 0) return;
  throw Error(ErrorCode::failed,
              fmt::format("{}: written, but what was there before held more than expected; it is kept in {}",
                          target_.string(), old.string()));
}

void NewDirectory::rename(const fs::path& from, const fs::path& to) const {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail(target_, errno);
}

}  // namespace qkv
