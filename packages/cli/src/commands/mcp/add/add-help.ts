/** The examples below `fairlead mcp add --help`. */

export const addHelp: string = `
COMMAND_OR_URL is one of
  a command and its words      npx -y some-package      (or quoted as one word: "npx -y some-package")
  a URL                        https://example.com/mcp
  a JSON snippet               '{"command": "npx", "args": ["-y", "some-package"]}'
                               also '{"mcpServers": {…}}' as found in READMEs; NAME may then be left out

All words after a command belong to the server; options for fairlead come before NAME. A "--" in between is accepted.
Values are written as you type them: $NAME and \${NAME} are filled in when the server starts, $$ is a dollar sign,
\${secret:NAME} is what fairlead secret set NAME stored. Quote them, or your shell fills them in at once.
A server added to a project is approved with that; others who use the project are asked by fairlead trust add.
Then it is connected to, if it may start: what it offers is shown, or why it does not work. The entry stays either way,
and the exit code is 0 because it was added; in a script, fairlead mcp test NAME gives the code.

Examples:
  fairlead mcp add files npx -y @modelcontextprotocol/server-filesystem ~/notes
  fairlead mcp add -e GITHUB_TOKEN github docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server
  fairlead mcp add -s user -t http -H 'Authorization: Bearer \${secret:API_TOKEN}' search https://example.com/mcp
  fairlead mcp add --include-tools read_file,list_directory files npx -y @modelcontextprotocol/server-filesystem .
  fairlead mcp add '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'`;
