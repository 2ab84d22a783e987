/**
 * The system calls that a sandbox refuses: those that reach what no namespace separates (the session's keyring, virtual
 * machine sockets), those that write into a terminal's input, and some that only attacks on the kernel need.
 */

/** The numbers of one processor architecture. */
interface SystemCalls {
  /** `AUDIT_ARCH_…` of the kernel. */
  readonly architecture: number;
  readonly ioctl: number;
  readonly socket: number;
  readonly socketpair: number;
  readonly ioUringSetup: number;
  /** keyctl, add_key, request_key, bpf, perf_event_open, userfaultfd, open_by_handle_at, syslog. */
  readonly refused: readonly number[];
  /** Numbers from here on belong to another calling convention of the same architecture (x32). */
  readonly foreignFrom?: number;
}

const tables: Readonly<Record<string, SystemCalls>> = {
  x64: {
    architecture: 0xc000003e,
    ioctl: 16,
    socket: 41,
    socketpair: 53,
    ioUringSetup: 425,
    refused: [250, 248, 249, 321, 298, 323, 304, 103],
    foreignFrom: 0x40000000,
  },
  arm64: {
    architecture: 0xc00000b7,
    ioctl: 29,
    socket: 198,
    socketpair: 199,
    ioUringSetup: 425,
    refused: [219, 217, 218, 280, 241, 282, 265, 116],
  },
};

/** Requests of `ioctl` that put characters into a terminal's input. */
const terminalInput = [0x5412, 0x541c] as const;
/** AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK. Of them, only AF_UNIX can reach anything outside, and only by a path. */
const addressFamilies = [1, 2, 10, 16] as const;

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const allow = 0x7fff0000;
const refuse = (error: number): number => 0x00050000 | error;

// Classic BPF: load a word, jump if equal, jump if greater or equal, return.
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const RETURN = 0x06;

// Offsets in `struct seccomp_data`. Of 64-bit arguments, the kernel uses the lower half for these calls.
const number = 0;
const architecture = 4;
const argument = (index: number): number => 16 + 8 * index;

/**
 * The filter as the kernel reads it. Undefined for a processor architecture whose system calls are not in the table.
 *
 * @param arch `process.arch`
 */
export function seccompFilter(arch: string): Buffer | undefined {
  const table = tables[arch];
  if (table === undefined) return undefined;
  const program: Instruction[] = [
    [LOAD, architecture],
    ...unless(IF_EQUAL, table.architecture, refuse(ENOSYS)),
    [LOAD, number],
  ];
  if (table.foreignFrom !== undefined) program.push(...when(IF_AT_LEAST, table.foreignFrom, refuse(ENOSYS)));
  for (const call of table.refused) program.push(...when(IF_EQUAL, call, refuse(EPERM)));
  // `io_uring` opens sockets without the call that is checked below. Programs fall back if the kernel has none.
  program.push(...when(IF_EQUAL, table.ioUringSetup, refuse(ENOSYS)));
  const requests: Instruction[] = [
    [LOAD, argument(1)],
    ...terminalInput.flatMap((request) => when(IF_EQUAL, request, refuse(EPERM))),
    [RETURN, allow],
  ];
  program.push([IF_EQUAL, table.ioctl, 0, requests.length], ...requests);
  for (const [call, families] of [
    [table.socket, addressFamilies],
    [table.socketpair, [1]],
  ] as const) {
    const check: Instruction[] = [
      [LOAD, argument(0)],
      ...families.flatMap((family) => when(IF_EQUAL, family, allow)),
      [RETURN, refuse(EAFNOSUPPORT)],
    ];
    program.push([IF_EQUAL, call, 0, check.length], ...check);
  }
  program.push([RETURN, allow]);
  return assemble(program);
}

/** Operation, operand, and how many instructions to skip if the comparison holds or does not hold. */
type Instruction = readonly [code: number, operand: number, ifTrue?: number, ifFalse?: number];

function when(comparison: number, operand: number, result: number): readonly Instruction[] {
  return [
    [comparison, operand, 0, 1],
    [RETURN, result],
  ];
}

function unless(comparison: number, operand: number, result: number): readonly Instruction[] {
  return [
    [comparison, operand, 1, 0],
    [RETURN, result],
  ];
}

/** Writes `struct sock_filter` for each instruction. Both architectures are little-endian. */
function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, operand, ifTrue = 0, ifFalse = 0]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand >>> 0, index * 8 + 4);
  }
  return bytes;
}
