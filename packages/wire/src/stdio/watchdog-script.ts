/**
 * The watchdog's scripts. They wait until the host's pipe closes, then end the servers that still run. They start no
 * program by its name alone, because `PATH` may contain an untrusted folder.
 */

/**
 * The script for a POSIX shell. When the host has ended, it starts Node, which ends the servers. Without Node, it ends
 * the process groups itself. The shell waits instead of Node, because it takes 1 MB of memory and Node would take 40
 * MB.
 *
 * Arguments: the prefix of the environment variable, the tenths of a second between SIGTERM and SIGKILL, the absolute
 * path of Node, the script for Node. Input lines: `busy`, `idle`, `+ group` and `- group`.
 */
export const shellWatchdog = `
prefix=$1 tenths=$2 node=$3 script=$4 busy= groups=' '
trap '' HUP INT TERM

# Sets start to the start time of process $1; empty when it is gone.
look() {
  start=
  { IFS= read -r stat < "/proc/$1/stat"; } 2> /dev/null || return 0
  set -- \${stat##*) }
  start=\${20}
}

while read -r word leader; do
  case $word in
    busy) busy=1 ;;
    idle) busy= ;;
    +) look "$leader"; groups="$groups$leader:$start " ;;
    -) case $groups in *" $leader:"*)
        rest=\${groups#*" $leader:"}
        groups="\${groups%%" $leader:"*} \${rest#* }" ;;
      esac ;;
  esac
done
[ -n "$busy" ] || exit 0
if [ -n "$node" ] && "$node" -e "$script" fairlead-watchdog "$prefix" "$tenths" end $groups; then exit 0; fi

# Sends signal $1 to the groups that are left; left is empty when there was none.
signal() {
  left=
  for entry in $groups; do
    leader=\${entry%%:*}
    look "$leader"
    if [ ! -e /proc/self/stat ] || { [ -n "$start" ] && [ "$start" = "\${entry#*:}" ]; }; then
      kill "-$1" "-$leader" 2> /dev/null && left=1
    fi
  done
}
# Sets seconds to the uptime; where the system does not tell it, the time is over.
clock() {
  seconds=$end
  { read -r up rest < /proc/uptime && seconds=\${up%%.*}; } 2> /dev/null
}

signal TERM
end=0
clock
end=$((seconds + (tenths + 9) / 10))
while [ -n "$left" ] && [ "$seconds" -lt "$end" ]; do
  signal 0
  clock
done
[ -z "$left" ] || signal KILL
`;

/**
 * The script for Node, which ends the servers. A new process group may have got the number of an ended one. So the
 * script ends a group only if its leader has the registered start time, or if a process in it has the environment
 * variable. Without `/proc`, it cannot check this and ends all groups.
 *
 * Arguments: a name, the prefix of the environment variable, the tenths of a second between SIGTERM and SIGKILL, a
 * mode, and the groups as `leader:start`. In mode `watch`, the script first waits for the end of its input. In mode
 * `end`, it does not.
 */
export const nodeWatchdog = `
const { existsSync, readdirSync, readFileSync } = require("node:fs");
const [, , prefix, tenths, how, ...given] = process.argv;
const groups = new Map(given.map((entry) => entry.split(":")));
const hasTable = existsSync("/proc/self/stat");
for (const name of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(name, () => {});

function read(file) {
  try { return readFileSync(file, "latin1"); } catch { return ""; }
}
function look(pid) {
  const stat = read("/proc/" + pid + "/stat");
  const fields = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
  return { group: fields[2], start: fields[19], environmentEnd: fields[48] };
}
// A process that replaces its program (execve) has no environment for a moment. The next look finds it.
function isReplacing(pid) {
  return existsSync("/proc/" + pid + "/exe") && look(pid).environmentEnd === "0";
}
function signal(name) {
  let isLeft = false;
  const kill = (pid) => {
    try { process.kill(pid, name); isLeft = true; } catch {}
  };
  const ours = new Set();
  for (const pid of hasTable ? readdirSync("/proc") : []) {
    if (!/^[0-9]+$/.test(pid)) continue;
    const environment = read("/proc/" + pid + "/environ");
    if (environment === "" && isReplacing(pid)) isLeft = true;
    if (!environment.includes(prefix)) continue;
    const { group } = look(pid);
    if (groups.has(group)) ours.add(group);
    else kill(Number(pid));
  }
  for (const [leader, start] of groups) {
    const isSame = !hasTable || (start !== "" && look(leader).start === start);
    if (isSame || ours.has(leader)) kill(-Number(leader));
  }
  return isLeft;
}
function end() {
  let isLeft = signal("SIGTERM");
  let round = 0;
  const next = () => {
    isLeft = signal(round < tenths ? 0 : "SIGKILL");
    round += 1;
    if (isLeft && round < Number(tenths) + 50) setTimeout(next, 100);
  };
  if (isLeft) setTimeout(next, 100);
}

let isBusy = false;
function hear(line) {
  const [word, leader] = line.split(" ");
  if (word === "busy" || word === "idle") isBusy = word === "busy";
  if (word === "+") groups.set(leader, look(leader).start ?? "");
  if (word === "-") groups.delete(leader);
}
if (how === "end") end();
else {
  let rest = "";
  process.stdin.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\\n");
    rest = lines.pop();
    lines.forEach(hear);
  }).on("end", () => {
    if (isBusy) end();
  });
}
`;
