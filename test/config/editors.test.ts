/** Editors ask the compiler's language server, which looks for the tsconfig.json of each file by itself. */
import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const FILES = globSync(['*.ts', '{bench,client,openapi,ops,src,test}/**/*.{ts,mjs}'], {
  exclude: ['**/node_modules', '**/dist'],
});

const uriOf = (file: string) => pathToFileURL(file).href;

type Diagnostic = { severity: number; message: string };
type Response = { id?: number; result?: { items?: Diagnostic[] } };
/** Others are hints, such as that of a deprecated method. */
const ERROR = 1;

/** Starts the server: https://microsoft.github.io/language-server-protocol/ */
function startServer() {
  const command = ['node_modules/typescript/bin/tsc', '--lsp', '--stdio'];
  const server = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void server.kill());
  const chunks = server.stdout.setEncoding('utf8')[Symbol.asyncIterator]();
  let output = '';
  function send(message: object) {
    const json = JSON.stringify({ jsonrpc: '2.0', ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
  }
  return {
    send,
    /** Resolves when the server has answered this many requests. */
    async responses(count: number): Promise<Response[]> {
      for (;;) {
        // The last message may not be whole yet.
        const messages = output.split(/Content-Length: \d+\r\n\r\n/).slice(1);
        const answered = messages.filter((message) => /"id":\d+,.*\}$/s.test(message));
        if (answered.length >= count) return answered.map((message) => JSON.parse(message));
        const { value, done } = await chunks.next();
        if (done) throw new Error('the language server has ended');
        output += value;
        // A request of the server, which waits for the answer.
        const [, id] = /"id":"(\w+)"/.exec(value) ?? [];
        if (id) send({ id, result: null });
      }
    },
  };
}

test('every file opens in an editor without an error', async () => {
  const { send, responses } = startServer();
  const rootUri = uriOf('.');
  const capabilities = { textDocument: { diagnostic: {} } };
  const params = { processId: process.pid, rootUri, capabilities };
  send({ id: 0, method: 'initialize', params });
  await responses(1);
  send({ method: 'initialized', params: {} });
  for (const file of FILES) {
    const languageId = file.endsWith('.ts') ? 'typescript' : 'javascript';
    const text = readFileSync(file, 'utf8');
    const textDocument = { uri: uriOf(file), languageId, version: 1, text };
    send({ method: 'textDocument/didOpen', params: { textDocument } });
  }
  for (const [i, file] of FILES.entries()) {
    const textDocument = { uri: uriOf(file) };
    send({ id: i + 1, method: 'textDocument/diagnostic', params: { textDocument } });
  }
  const opened = (await responses(FILES.length + 1)).filter(({ id }) => id !== 0);
  for (const { id = 0, result } of opened) {
    const errors = result?.items?.filter(({ severity }) => severity === ERROR);
    expect(errors, FILES[id - 1]).toEqual([]);
  }
});
