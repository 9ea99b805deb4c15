/** A client that writes any bytes as its request, on a connection of its own. Node's own client would reject some. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export type Sent = {
  method?: string;
  path?: string;
  /** Written as UTF-8, unchecked. */
  headers?: Record<string, string>;
  body?: string;
};

export type Answer = { status: number; headers: Headers; text: string };

/** A create with an API key. */
export function creating(key: string, body: string, headers: Record<string, string> = {}): Sent {
  const own = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  return { method: 'POST', headers: { ...own, ...headers }, body };
}

/** The bytes of a request with `Connection: close`. */
export function bytesOf({ method = 'GET', path = '/v1/pets', headers = {}, body }: Sent): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close'];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== undefined) lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`);
}

/** Writes the bytes to a new connection. Resolves when the operating system has them all. */
export async function write(port: number, bytes: Buffer): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  // A reader receives the error as well; without a reader it is unimportant.
  socket.on('error', () => {});
  await new Promise((resolve) => socket.write(bytes, resolve));
  return socket;
}

/** The response that arrives on a connection. */
export async function answerOn(socket: Socket): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  const received = Buffer.concat(chunks).toString();
  const end = received.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = received.slice(0, end).split('\r\n');
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return { status: Number(statusLine.split(' ')[1]), headers, text: received.slice(end + 4) };
}

/** Sends a request, and resolves to its response. */
export async function send(port: number, sent: Sent): Promise<Answer> {
  return answerOn(await write(port, bytesOf(sent)));
}
