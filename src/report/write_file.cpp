// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "report/report.hpp"

namespace dlnb {
namespace {

namespace fs = std::filesystem;

// A file being written; removed again unless `keep` was called.
class Temporary {
 public:
  explicit Temporary(fs::path path) : path_(std::move(path)) {
    // O_EXCL: ours alone; the mode follows the umask as for any file a user writes.
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    if (!kept_) ::unlink(path_.c_str());
  }

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  const fs::path& path() const { return path_; }
  void keep() { kept_ = true; }

 private:
  fs::path path_;
  int descriptor_ = -1;
  bool kept_ = false;
};

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(std::size_t(written));
  }
  return true;
}

[[noreturn]] void cannot_write(const fs::path& file, int error) {
  const std::string problem = std::string("cannot be written: ") + std::strerror(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR: throw UserError(file.string(), problem, "make its folder first, or name another file");
    case EACCES:
    case EPERM:
    case EROFS: throw UserError(file.string(), problem, "name a file in a folder you may write to");
    case ENAMETOOLONG: throw UserError(file.string(), problem, "give it a shorter name");
    case ENOSPC:
    case EDQUOT: throw UserError(file.string(), problem, "make room, or name a file on another disk");
    default: throw UserError(file.string(), problem);
  }
}

// Pipes and terminals (/dev/stdout) have no folder to rename in.
void write_through(const fs::path& file, const std::string& text) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) cannot_write(file, errno);
  const bool written = write_all(descriptor, text);
  const int error = errno;
  ::close(descriptor);
  if (!written) cannot_write(file, error);
}

void write_and_rename(const fs::path& file, const std::string& text) {
  const std::string stem =
      "." + file.filename().string().substr(0, 200) + "." + std::to_string(::getpid()) + ".";
  for (int attempt = 0;; ++attempt) {
    Temporary temporary(file.parent_path() / (stem + std::to_string(attempt) + ".part"));
    if (!temporary.is_open()) {
      if (errno == EEXIST) continue;  // left behind by a killed process that had our number
      cannot_write(file, errno);
    }
    if (!write_all(temporary.descriptor(), text) || ::fsync(temporary.descriptor()) != 0 ||
        ::rename(temporary.path().c_str(), file.c_str()) != 0)
      cannot_write(file, errno);
    temporary.keep();
    return;
  }
}

}  // namespace

void write_file(const fs::path& file, const std::string& text) {
  if (file.filename().empty())
    throw UserError(file.string(), "is not the name of a file", "name a file in it");
  std::error_code ignored;  // a file that is not there yet is the usual case
  const fs::file_status status = fs::status(file, ignored);
  if (fs::is_directory(status)) throw UserError(file.string(), "is a folder", "name a file in it");
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_through(file, text);
  // A link stays a link: what it points to is replaced.
  write_and_rename(fs::exists(status) ? fs::canonical(file) : file, text);
}

}  // namespace dlnb
