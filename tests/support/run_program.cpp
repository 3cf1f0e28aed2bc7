#include "support/run_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "support/temporary_directory.hpp"

namespace qkv::test {
namespace {

std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// In the child: files for the three streams, then the program. Never returns.
[[noreturn]] void become(const std::filesystem::path& directory, const std::vector<std::string>& arguments,
                         const RunOptions& options) {
  const auto attach = [](const std::filesystem::path& path, int flags, int stream) {
    const int fd = ::open(path.c_str(), flags, 0600);
    if (fd < 0 || ::dup2(fd, stream) < 0) ::_exit(126);
  };
  attach(directory / "in", O_RDONLY, STDIN_FILENO);
  attach(directory / "out", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
  attach(directory / "err", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
  for (const auto& variable : options.environment) ::putenv(const_cast<char*>(variable.c_str()));
  const std::string program = options.program.empty() ? QKV_PROGRAM : options.program;
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

}  // namespace

Run run_program(const std::vector<std::string>& arguments, const RunOptions& options) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() / "in", std::ios::binary) << options.input;
  const auto child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) become(directory.path(), arguments, options);
  if (options.interrupt.count() > 0) {
    std::this_thread::sleep_for(options.interrupt);
    ::kill(child, SIGINT);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(directory.path() / "out"),
          slurp(directory.path() / "err")};
}

Run interrupt_underway(const std::vector<std::string>& arguments, RunOptions options,
                       const std::function<bool(const Run&)>& far_enough) {
  for (;; options.interrupt *= 2) {
    auto run = run_program(arguments, options);
    if (far_enough(run) || options.interrupt > std::chrono::minutes(1)) return run;
  }
}

long line_count(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace qkv::test
