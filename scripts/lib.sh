# What the scripts share: installing what is missing, configuring, building. Sourced, with `root` set to the repository.

# Where a header is looked for, besides the compiler's own folders.
include_roots=(/usr/include /usr/include/*-linux-gnu /usr/local/include)
IFS=: read -ra extra_roots <<<"${CPATH:-}:${CMAKE_PREFIX_PATH:-}"
for extra in "${extra_roots[@]}"; do
  [ -n "$extra" ] && include_roots+=("$extra" "$extra/include")
done

has_header() {
  local folder name
  for folder in "${include_roots[@]}"; do
    for name in "$@"; do [ -e "$folder/$name" ] && return; done
  done
  return 1
}

has_tool() { command -v "$1" >/dev/null; }

# Prints the Debian packages that are missing.
missing_packages() {
  [ -n "${CXX:-}" ] || has_tool c++ || has_tool g++ || echo g++
  has_tool cmake || echo cmake
  has_tool ninja || echo ninja-build
  has_tool pkg-config || echo pkg-config
  has_tool python3 || echo python3
  has_header eigen3/Eigen/Core Eigen/Core || echo libeigen3-dev
  has_header xsimd/xsimd.hpp || echo libxsimd-dev
  has_header boost/hana.hpp || echo libboost-dev
  has_header catch2/catch.hpp catch2/catch_all.hpp || echo catch2
  has_header pcre2.h || echo libpcre2-dev
  has_header curl/curl.h || echo libcurl4-openssl-dev
  has_header CLI/CLI.hpp || echo libcli11-dev
  has_header nlohmann/json.hpp || echo nlohmann-json3-dev
}

# apt_install PACKAGE...: by apt, or says what to install.
apt_install() {
  if ! has_tool apt-get; then
    echo "Please install what Debian calls: $*" >&2
    exit 1
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    has_tool sudo || { echo "Please install as root: apt-get install $*" >&2; exit 1; }
    as_root=(sudo)
  fi
  echo "Installing $*" >&2
  local log
  log=$(mktemp)
  if ! { [ -n "${apt_updated:-}" ] || "${as_root[@]}" apt-get update -q; } >"$log" 2>&1 ||
     ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@" >>"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    echo "apt-get could not install: $*" >&2
    exit 1
  fi
  rm -f "$log"
  apt_updated=yes
}

setup() {
  local missing version
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -eq 0 ] || apt_install "${missing[@]}"
  version=$(cmake --version)
  version=${version#cmake version }
  version=${version%%[!0-9.]*}
  if [ "$(printf '3.24\n%s\n' "$version" | sort -V | head -n 1)" != 3.24 ]; then
    echo "cmake is $version; 3.24 or newer is needed (https://cmake.org/download, or: pip install cmake)" >&2
    exit 1
  fi
}

# Besides setup(): what only tests need. Debian starts nginx when it installs it; the tests start one of their own.
setup_tests() {
  setup
  [ -x /usr/sbin/nginx ] || has_tool nginx || apt_install nginx-light
}

# As many compilers at once as there are cores, and 1.5 GB of memory for each.
n_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 1500000)}' /proc/meminfo 2>/dev/null || echo "$cores")
  [ "$memory" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

# build PRESET TARGET...: says nothing unless something is to be built, and everything if that fails.
build() {
  local preset=$1 folder=$root/build/$1 log
  shift
  log=$(mktemp)
  local status=0
  if [ ! -f "$folder/build.ninja" ]; then
    (cd "$root" && cmake --preset "$preset") >"$log" 2>&1 || status=$?
    if [ $status -ne 0 ]; then
      cat "$log" >&2
      rm -f "$log"
      return $status
    fi
  fi
  cmake --build "$folder" -j "$(n_jobs)" --target "$@" 2>&1 | show_progress >"$log" || status=$?
  if [ $status -ne 0 ]; then
    cat "$log" >&2
  fi
  rm -f "$log"
  return $status
}

# Passes ninja's output on without its counter; shows that on a terminal, elsewhere one line.
show_progress() {
  local line shown=
  while IFS= read -r line; do
    if ! [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]]; then
      printf '%s\n' "$line"
      continue
    fi
    [ "${BASH_REMATCH[1]}" -gt 0 ] || continue  # looks for new files
    if [ -t 2 ]; then
      printf '\r\033[KBuilding %s/%s' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" >&2
    elif [ -z "$shown" ]; then
      printf 'Building...\n' >&2
    fi
    shown=yes
  done
  if [ -n "$shown" ] && [ -t 2 ]; then printf '\r\033[K' >&2; fi
}
