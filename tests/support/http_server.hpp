#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

namespace lazymoe::test {

/// A server that runs as long as this lives.
class ServerProcess {
 public:
  /// @param output descriptor that becomes the server's standard output; -1: none
  ServerProcess(std::vector<std::string> command, int output) {
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    child_ = ::fork();
    if (child_ < 0) throw std::runtime_error("cannot fork");
    if (child_ == 0) {
      if (output >= 0) ::dup2(output, STDOUT_FILENO);
      if (::getppid() != parent) ::_exit(127);
      ::alarm(600);  // ends by itself should the test not end it
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess() { stop(); }

  void stop() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }

  [[nodiscard]] bool alive() {
    if (child_ > 0 && ::waitpid(child_, nullptr, WNOHANG) == child_) child_ = -1;
    return child_ > 0;
  }

 private:
  pid_t child_ = -1;
};

/// nginx, serving a folder on a free port.
class Nginx {
 public:
  /// Empty if it is not installed.
  [[nodiscard]] static std::string program() {
    for (const char* path : {"/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"}) {
      if (::access(path, X_OK) == 0) return path;
    }
    return {};
  }

  explicit Nginx(const std::filesystem::path& folder) {
    for (int attempt = 0; attempt < 5; ++attempt) {
      port_ = free_port();
      const auto config = dir_.path() / "nginx.conf";
      std::ofstream(config) << "daemon off; master_process off; pid " << dir_.path().string() << "/pid;\n"
                            << "error_log " << dir_.path().string() << "/errors;\n"
                            << "events {}\nhttp {\n  log_format one '$connection $status $body_bytes_sent $request';\n"
                            << "  access_log " << log() << " one;\n  client_body_temp_path " << dir_.path().string()
                            << "/body;\n  keepalive_requests 100000;\n  server {\n    listen 127.0.0.1:" << port_
                            << ";\n    root " << folder.string() << ";\n    location /moved/ { rewrite ^/moved/(.*)$ "
                            << "/$1 redirect; }\n    location /loop { return 302 /loop; }\n  }\n}\n";
      process_.emplace(std::vector<std::string>{program(), "-p", dir_.path().string(), "-c", config.string(), "-e",
                                                (dir_.path() / "errors").string()},
                       -1);
      for (int wait = 0; wait < 500 && process_->alive(); ++wait) {
        if (accepts(port_)) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      process_.reset();  // another process was quicker to take the port
    }
    throw std::runtime_error("nginx does not start");
  }

  /// What URLs begin with.
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  void stop() { process_->stop(); }

  struct Request {
    std::string connection;
    int status = 0;
    std::uint64_t bytes = 0;
    std::string line;
  };

  /// Those that were answered so far. nginx notes a request after its answer, but before it takes the next one: so here
  /// is a next one, which does not count.
  [[nodiscard]] std::vector<Request> requests() const {
    const int s = connect(port_);
    const std::string last = "GET /last HTTP/1.0\r\n\r\n";
    std::array<char, 512> answer{};
    if (s < 0 || ::write(s, last.data(), last.size()) < 0) throw std::runtime_error("nginx is gone");
    while (::read(s, answer.data(), answer.size()) > 0) {}
    ::close(s);
    std::vector<Request> all;
    std::ifstream file(log());
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      Request request;
      words >> request.connection >> request.status >> request.bytes >> std::ws;
      std::getline(words, request.line);
      if (!request.line.empty() && request.line.find("GET /last ") != 0) all.push_back(request);
    }
    return all;
  }

 private:
  [[nodiscard]] std::string log() const { return (dir_.path() / "requests").string(); }

  static sockaddr_in local(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }

  static std::uint16_t free_port() {
    const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = local(0);
    socklen_t bytes = sizeof address;
    const bool ok = s >= 0 && ::bind(s, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                    ::getsockname(s, reinterpret_cast<sockaddr*>(&address), &bytes) == 0;
    if (s >= 0) ::close(s);
    if (!ok) throw std::runtime_error("there is no free port");
    return ntohs(address.sin_port);
  }

  /// A descriptor, or -1.
  static int connect(std::uint16_t port) {
    const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = local(port);
    if (s < 0 || ::connect(s, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return s;
    ::close(s);
    return -1;
  }

  static bool accepts(std::uint16_t port) {
    const int s = connect(port);
    if (s >= 0) ::close(s);
    return s >= 0;
  }

  TempDir dir_;
  std::uint16_t port_ = 0;
  std::optional<ServerProcess> process_;
};

/// Whether tests that want nginx have to be skipped, which is said.
[[nodiscard]] inline bool no_nginx() {
  if (!Nginx::program().empty()) return false;
  WARN("skipped: nginx is not installed (Debian: nginx-light)");
  return true;
}

/// A server that serves a folder badly: `fault` is one of those that support/faulty_server.py lists.
class FaultyServer {
 public:
  FaultyServer(const std::filesystem::path& folder, const std::string& fault) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
    process_.emplace(std::vector<std::string>{LAZYMOE_PYTHON, std::string(LAZYMOE_SUPPORT_DIR) + "/faulty_server.py",
                                              folder.string(), fault},
                     ends[1]);
    ::close(ends[1]);
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) port_ += c;
    ::close(ends[0]);
    if (port_.empty()) throw std::runtime_error("the faulty server does not start");
  }

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + port_; }

 private:
  std::string port_;
  std::optional<ServerProcess> process_;
};

}  // namespace lazymoe::test
