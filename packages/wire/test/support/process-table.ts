/** A folder like `/proc`, with one process. By default, it replaces its program: it has no environment. */

import { symlink } from "node:fs/promises";
import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";

export interface ProcessOptions {
  readonly pid: number;
  /** Default: `R`, it runs. */
  readonly state?: string;
  /** Field 51 of the process's status. Default: 0. */
  readonly environmentEnd?: number;
}

/** The fields of a running process from field 3 on. */
export function statusOf({ pid, state = "R", environmentEnd = 0 }: ProcessOptions): string {
  const fields = Array.from({ length: 50 }, () => "0");
  fields[0] = state;
  fields[2] = String(pid);
  fields[17] = "1";
  fields[48] = String(environmentEnd);
  return `${pid} (a) b) ${fields.join(" ")}\n`;
}

export async function processTable(process: ProcessOptions): Promise<TemporaryFolder> {
  const folder = await temporaryFolder();
  await folder.write("self/stat", statusOf(process));
  await folder.write(`${process.pid}/stat`, statusOf(process));
  await folder.write(`${process.pid}/environ`, "");
  await symlink(import.meta.filename, `${folder.path}/${process.pid}/exe`);
  return folder;
}
