/** The script that starts a program in its sandbox, with the limits that hold there. */

import { insideFolder, insideScriptPath } from "./inside-script.ts";

/** How many processes and threads a sandbox may have. Root is exempt from this limit of the kernel. */
export const mostProcesses = 1000;

/**
 * Sets the limits inside of the user namespace, where they count only the processes of this sandbox, and starts the
 * process that leads programs other than Node to the proxy: the shell waits until it listens.
 */
export const startScript: string = `ulimit -c 0
ulimit -p ${mostProcesses} 2>/dev/null || ulimit -u ${mostProcesses} 2>/dev/null
node=$1
shift
[ "$node" = - ] || : "$(NODE_OPTIONS= "$node" ${insideScriptPath} 2>/dev/null &)"
exec "$@"
`;
/** Where the sandbox shows the start script. Its arguments: the Node for the network or `-`, the program, its arguments. */
export const insideStartPath: string = `${insideFolder}/start`;
