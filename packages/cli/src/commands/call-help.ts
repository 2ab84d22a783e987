/** What `fairlead call --help` says beyond its options. */

export const callHelp = `
How arguments are written:
  key=value      as the tool's schema says: text stays text; numbers, true, false,
                 [lists] and {objects} are parsed where the schema wants them
  key=a key=b    a list, where the schema wants one
  key:=json      always JSON: count:=3, tags:='["a","b"]', name:='"@home"'
  key=@file      the content of a file; key:=@file reads JSON from a file
  'tool(…)'      as in code: 'demo.greet(name: "Ada", loud: true)'; values without
                 a name come first, in the order of the tool's signature
  --args JSON    all of them at once
  -              the same from stdin

Connects to that one server. The result goes to stdout, progress to stderr. Exit code 7 means that the tool
reported an error (its text is still printed), 130 that Ctrl-C cancelled it.

A server that is not in the settings is typed: its URL first, or its command after --stdio, then the tool.

Examples:
  fairlead call demo.greet name=Ada
  fairlead call demo.greet name=Ada language=fr loud=true
  fairlead call demo.count to=3
  fairlead call demo.picture pattern=rings --save .
  fairlead call demo.statistics text=@README.md --json
  echo '{"name": "Ada"}' | fairlead call demo.greet -
  fairlead call --server demo --tool wait seconds=60 --timeout 2000
  fairlead call https://mcp.example.com/mcp search query=knots
  fairlead call --stdio 'npx -y @modelcontextprotocol/server-everything' echo message=hello`;
