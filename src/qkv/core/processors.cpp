#include "qkv/core/processors.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string>

namespace qkv {
namespace {

constexpr int unlimited = std::numeric_limits<int>::max();

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The processors this process may run on, hardware threads of one core counted once.
int cores_by_affinity() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  std::set<std::string> cores;  // the list of siblings names a core
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) continue;
    const auto siblings = first_line(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    cores.insert(siblings.empty() ? fmt::format("cpu{}", cpu) : siblings);
  }
  return static_cast<int>(cores.size());
}

/// Processors that a quota of `quota` microseconds in each `period` comes to; unlimited when it is no number.
int processors_of(const std::string& quota, const std::string& period) {
  std::istringstream numbers(fmt::format("{} {}", quota, period));
  double allowed = 0.0;
  double of = 0.0;
  if (!(numbers >> allowed >> of) || allowed <= 0.0 || of <= 0.0) return unlimited;
  return std::max(1, static_cast<int>(std::min(std::ceil(allowed / of), 1e6)));
}

/// The least quota of a control group and those above it. Version 2: "0::/path" and cpu.max, "max 100000" or
/// "150000 100000". Version 1: "3:cpu,cpuacct:/path" and two files.
int processors_by_quota() {
  int least = unlimited;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto second = line.find(':', line.find(':') + 1);
    if (second == std::string::npos) continue;
    const bool unified = line.rfind("0::", 0) == 0;
    if (!unified && line.find("cpu") == std::string::npos) continue;
    std::filesystem::path path = line.substr(second + 1);
    for (;; path = path.parent_path()) {
      const auto root = fmt::format("/sys/fs/cgroup{}{}", unified ? "" : "/cpu", path.string());
      least = std::min(least, unified ? processors_of(first_line(fmt::format("{}/cpu.max", root)), "")
                                      : processors_of(first_line(fmt::format("{}/cpu.cfs_quota_us", root)),
                                                      first_line(fmt::format("{}/cpu.cfs_period_us", root))));
      if (path == path.root_path() || path.empty()) break;
    }
  }
  return least;
}

}  // namespace

int usable_processors() { return std::max(1, std::min(cores_by_affinity(), processors_by_quota())); }

}  // namespace qkv
