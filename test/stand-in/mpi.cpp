// SPDX-License-Identifier: Apache-2.0
// A stand-in for an MPI library that takes an accelerator's memory: preloaded into a rank, it hands the real library the
// host's view of the device stand-in's memory, whose own addresses cannot be looked at. Stricter than the real ones: what
// they are documented not to do with such memory is written down as a violation.
#include <dlfcn.h>
#include <mpi.h>

#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#define STAND_IN_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

/// What the device's stand-in offers, where it is in this process.
struct Device {
  void* (*data)(const void* address, std::size_t bytes, int written, const char* who) = nullptr;
  void (*note)(const char* line, int is_violation) = nullptr;
  int (*contexts)() = nullptr;
};

const Device& device() {
  static Device found;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (found.data) return found;
  for (const char* file : {"libcuda.so.1", "libamdhip64.so"})
    if (void* const library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD)) {
      found.data = reinterpret_cast<decltype(found.data)>(dlsym(library, "stand_in_data"));
      found.note = reinterpret_cast<decltype(found.note)>(dlsym(library, "stand_in_note"));
      found.contexts = reinterpret_cast<decltype(found.contexts)>(dlsym(library, "stand_in_contexts"));
      break;
    }
  return found;
}

std::mutex operators_mutex;
std::vector<MPI_Op> operators;  // not the library's own
bool used = false;              // memory of a device

int keep(int code, const MPI_Op* made) {
  const std::lock_guard lock(operators_mutex);
  operators.push_back(*made);
  return code;
}
bool is_own(MPI_Op op) {
  const std::lock_guard lock(operators_mutex);
  for (const MPI_Op known : operators)
    if (known == op) return true;
  return false;
}

bool is_open_mpi() {
#ifdef OPEN_MPI
  return true;
#else
  return false;
#endif
}

class Call {
 public:
  explicit Call(const char* name) : name_(name) {}

  void* in(const void* buffer, std::size_t bytes) { return view(buffer, bytes, false); }
  void* out(void* buffer, std::size_t bytes) { return view(buffer, bytes, true); }
  /// Of a non-blocking collective.
  void collective() const {
    if (touches_ && is_open_mpi()) violation("is a non-blocking collective of device memory");
  }
  void adds_up(MPI_Op op) const {
    if (touches_ && is_own(op)) violation("adds up device memory with an operator of the host");
  }

 private:
  void* view(const void* buffer, std::size_t bytes, bool written) {
    void* const plain = const_cast<void*>(buffer);
    if (!buffer || !device().data) return plain;
    void* const data = device().data(buffer, bytes, written, name_);
    if (!data) return plain;
    if (!touches_) device().note((std::string("mpi ") + name_).c_str(), 0);
    touches_ = used = true;
    return data;
  }
  void violation(const char* what) const { device().note((std::string(name_) + " " + what).c_str(), 1); }

  const char* const name_;
  bool touches_ = false;
};

template <class Count>
std::size_t bytes(Count count, MPI_Datatype type, int members = 1) {
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  return std::size_t(count) * std::size_t(size) * std::size_t(members);
}
int members(MPI_Comm communicator) {
  int size = 1;
  PMPI_Comm_size(communicator, &size);
  return size;
}
template <class Count>
Count sum(const Count* counts, MPI_Comm communicator) {
  Count all = 0;
  for (int i = 0; i < members(communicator); ++i) all += counts[i];
  return all;
}

bool answers_yes() {
  const char* const text = std::getenv("DLNB_STAND_IN_AWARE");
  return !text || std::atoi(text) == 1;
}

/// What rank 1 gets from an all-reduce of device memory, where that is asked for.
void spoil(void* data, std::size_t size) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (!rank) rank = std::getenv("PMI_RANK");
  if (used && rank && std::atoi(rank) == 1 && size > 6 && std::getenv("DLNB_STAND_IN_SPOIL_MPI"))
    static_cast<unsigned char*>(data)[6] ^= 0x10;
}

}  // namespace

STAND_IN_EXPORT int MPIX_Query_cuda_support() { return answers_yes(); }
#ifndef OPEN_MPI
STAND_IN_EXPORT int MPIX_Query_hip_support() { return answers_yes(); }
#endif

STAND_IN_EXPORT int MPI_Finalize() {
  if (used && device().contexts() == 0) device().note("the device's context is gone before MPI is left", 1);
  return PMPI_Finalize();
}

STAND_IN_EXPORT int MPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op) {
  return keep(PMPI_Op_create(function, commutes, op), op);
}

// The calls with counts, for the forms with int and with MPI_Count.
#define STAND_IN_CALLS(_c, Count, Place)                                                                   \
  STAND_IN_EXPORT int MPI_Allreduce##_c(const void* in, void* out, Count n, MPI_Datatype t, MPI_Op op,     \
                                        MPI_Comm comm) {                                                   \
    Call call("MPI_Allreduce");                                                                            \
    void *const from = call.in(in, bytes(n, t)), *const to = call.out(out, bytes(n, t));                   \
    call.adds_up(op);                                                                                      \
    const int code = PMPI_Allreduce##_c(from, to, n, t, op, comm);                                         \
    spoil(to, bytes(n, t));                                                                                \
    return code;                                                                                           \
  }                                                                                                        \
  STAND_IN_EXPORT int MPI_Iallreduce##_c(const void* in, void* out, Count n, MPI_Datatype t, MPI_Op op,    \
                                         MPI_Comm comm, MPI_Request* request) {                            \
    Call call("MPI_Iallreduce");                                                                           \
    void *const from = call.in(in, bytes(n, t)), *const to = call.out(out, bytes(n, t));                   \
    call.adds_up(op), call.collective();                                                                   \
    return PMPI_Iallreduce##_c(from, to, n, t, op, comm, request);                                         \
  }                                                                                                        \
  STAND_IN_EXPORT int MPI_Reduce_scatter_block##_c(const void* in, void* out, Count n, MPI_Datatype t,     \
                                                   MPI_Op op, MPI_Comm comm) {                             \
    Call call("MPI_Reduce_scatter_block");                                                                 \
    void *const from = call.in(in, bytes(n, t, members(comm))), *const to = call.out(out, bytes(n, t));    \
    call.adds_up(op);                                                                                      \
    return PMPI_Reduce_scatter_block##_c(from, to, n, t, op, comm);                                        \
  }                                                                                                        \
  STAND_IN_EXPORT int MPI_Ireduce_scatter_block##_c(const void* in, void* out, Count n, MPI_Datatype t,    \
                                                    MPI_Op op, MPI_Comm comm, MPI_Request* request) {      \
    Call call("MPI_Ireduce_scatter_block");                                                                \
    void *const from = call.in(in, bytes(n, t, members(comm))), *const to = call.out(out, bytes(n, t));    \
    call.adds_up(op), call.collective();                                                                   \
    return PMPI_Ireduce_scatter_block##_c(from, to, n, t, op, comm, request);                              \
  }                                                                                                        \
  STAND_IN_EXPORT int MPI_Allgather##_c(const void* in, Count n, MPI_Datatype t, void* out, Count m,       \
                                        MPI_Datatype u, MPI_Comm comm) {                                   \
    Call call("MPI_Allgather");                                                                            \
    void *const from = call.in(in, bytes(n, t)), *const to = call.out(out, bytes(m, u, members(comm)));    \
    return PMPI_Allgather##_c(from, n, t, to, m, u, comm);                                                 \
  }                                                                                                        \
  STAND_IN_EXPORT int MPI_Iallgather##_c(const void* in, Count n, MPI_Datatype t, void* out, Count m,      \
                                         MPI_Datatype u, MPI_Comm comm, MPI_Request* request) {            \
    Call call("MPI_Iallgather");                                                                           \
    void *const from = call.in(in, bytes(n, t)), *const to = call.out(out, bytes(m, u, members(comm)));    \
    call.collective();                                                                                     \
    return PMPI_Iallgather##_c(from, n, t, to, m, u, comm, request);                                       \
  }                                                                                                        \
  STAND_IN_EXPORT int MPI_Alltoall##_c(const void* in, Count n, MPI_Datatype t, void* out, Count m,        \
                                       MPI_Datatype u, MPI_Comm comm) {                                    \
    Call call("MPI_Alltoall");                                                                             \
    void *const from = call.in(in, bytes(n, t, members(comm))), *const to = call.out(                      \
                                                                    out, bytes(m, u, members(comm)));      \
    return PMPI_Alltoall##_c(from, n, t, to, m, u, comm);                                                  \
  }                                                                                                        \
  STAND_IN_EXPORT int MPI_Ialltoall##_c(const void* in, Count n, MPI_Datatype t, void* out, Count m,       \
                                        MPI_Datatype u, MPI_Comm comm, MPI_Request* request) {             \
    Call call("MPI_Ialltoall");                                                                            \
    void *const from = call.in(in, bytes(n, t, members(comm))), *const to = call.out(                      \
                                                                    out, bytes(m, u, members(comm)));      \
    call.collective();                                                                                     \
    return PMPI_Ialltoall##_c(from, n, t, to, m, u, comm, request);                                        \
  }                                                                                                        \
  STAND_IN_EXPORT int MPI_Alltoallv##_c(const void* in, const Count* n, const Place* at, MPI_Datatype t,   \
                                        void* out, const Count* m, const Place* put, MPI_Datatype u,       \
                                        MPI_Comm comm) {                                                   \
    Call call("MPI_Alltoallv");                                                                            \
    void *const from = call.in(in, bytes(sum(n, comm), t)), *const to =                                    \
                                                                call.out(out, bytes(sum(m, comm), u));     \
    return PMPI_Alltoallv##_c(from, n, at, t, to, m, put, u, comm);                                        \
  }                                                                                                        \
  STAND_IN_EXPORT int MPI_Ialltoallv##_c(const void* in, const Count* n, const Place* at, MPI_Datatype t,  \
                                         void* out, const Count* m, const Place* put, MPI_Datatype u,      \
                                         MPI_Comm comm, MPI_Request* request) {                            \
    Call call("MPI_Ialltoallv");                                                                           \
    void *const from = call.in(in, bytes(sum(n, comm), t)), *const to =                                    \
                                                                call.out(out, bytes(sum(m, comm), u));     \
    call.collective();                                                                                     \
    return PMPI_Ialltoallv##_c(from, n, at, t, to, m, put, u, comm, request);                              \
  }                                                                                                        \
  STAND_IN_EXPORT int MPI_Bcast##_c(void* data, Count n, MPI_Datatype t, int root, MPI_Comm comm) {        \
    Call call("MPI_Bcast");                                                                                \
    return PMPI_Bcast##_c(call.out(data, bytes(n, t)), n, t, root, comm);                                  \
  }                                                                                                        \
  STAND_IN_EXPORT int MPI_Ibcast##_c(void* data, Count n, MPI_Datatype t, int root, MPI_Comm comm,         \
                                     MPI_Request* request) {                                               \
    Call call("MPI_Ibcast");                                                                               \
    void* const to = call.out(data, bytes(n, t));                                                          \
    call.collective();                                                                                     \
    return PMPI_Ibcast##_c(to, n, t, root, comm, request);                                                 \
  }                                                                                                        \
  STAND_IN_EXPORT int MPI_Send##_c(const void* data, Count n, MPI_Datatype t, int peer, int tag,           \
                                   MPI_Comm comm) {                                                        \
    Call call("MPI_Send");                                                                                 \
    return PMPI_Send##_c(call.in(data, bytes(n, t)), n, t, peer, tag, comm);                               \
  }                                                                                                        \
  STAND_IN_EXPORT int MPI_Isend##_c(const void* data, Count n, MPI_Datatype t, int peer, int tag,          \
                                    MPI_Comm comm, MPI_Request* request) {                                 \
    Call call("MPI_Isend");                                                                                \
    return PMPI_Isend##_c(call.in(data, bytes(n, t)), n, t, peer, tag, comm, request);                     \
  }                                                                                                        \
  STAND_IN_EXPORT int MPI_Recv##_c(void* data, Count n, MPI_Datatype t, int peer, int tag, MPI_Comm comm,  \
                                   MPI_Status* status) {                                                   \
    Call call("MPI_Recv");                                                                                 \
    return PMPI_Recv##_c(call.out(data, bytes(n, t)), n, t, peer, tag, comm, status);                      \
  }                                                                                                        \
  STAND_IN_EXPORT int MPI_Irecv##_c(void* data, Count n, MPI_Datatype t, int peer, int tag, MPI_Comm comm, \
                                    MPI_Request* request) {                                                \
    Call call("MPI_Irecv");                                                                                \
    return PMPI_Irecv##_c(call.out(data, bytes(n, t)), n, t, peer, tag, comm, request);                    \
  }

STAND_IN_CALLS(, int, int)
#ifdef STAND_IN_LARGE_COUNTS
STAND_IN_CALLS(_c, MPI_Count, MPI_Aint)
STAND_IN_EXPORT int MPI_Op_create_c(MPI_User_function_c* function, int commutes, MPI_Op* op) {
  return keep(PMPI_Op_create_c(function, commutes, op), op);
}
#endif
