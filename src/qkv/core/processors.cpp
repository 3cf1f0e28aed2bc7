#include "qkv/core/processors.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <string>

namespace qkv {
namespace {

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

/// "max 100000" or "150000 100000": microseconds of processor time in each period. No limit: a large number.
int processors_by_quota() {
  constexpr int unlimited = std::numeric_limits<int>::max();
  const auto group = first_line("/proc/self/cgroup");  // version 2: "0::/path"
  const auto colon = group.rfind(':');
  const auto path = colon == std::string::npos ? std::string() : group.substr(colon + 1);
  for (const auto& file : {"/sys/fs/cgroup" + path + "/cpu.max", std::string("/sys/fs/cgroup/cpu.max")}) {
    std::ifstream stream(file);
    double quota = 0.0;
    double period = 0.0;
    if (stream >> quota >> period && quota > 0.0 && period > 0.0)
      return std::max(1, static_cast<int>(std::min(std::ceil(quota / period), 1e6)));
  }
  return unlimited;
}

}  // namespace

int usable_processors() { return std::max(1, std::min(cores_by_affinity(), processors_by_quota())); }

}  // namespace qkv
