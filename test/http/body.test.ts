import { describe, expect, test } from 'vitest';
import { startStore } from '../store.ts';

const store = startStore();

async function petCount(): Promise<number> {
  const { DB } = await store.bindings();
  return (await DB.prepare('SELECT count(*) AS n FROM pets').first<number>('n')) ?? -1;
}

describe('a body that is not JSON', () => {
  test.each([
    ['empty', ''],
    ['blank', ' \n'],
    ['truncated', '{"name":"Rex","categoryId":1'],
    ['with a trailing comma', '{"name":"Rex","categoryId":1,}'],
    ['with single quotes', "{'name':'Rex','categoryId':1}"],
    ['with a raw line break in a string', '{"name":"a\nb","categoryId":1}'],
    ['NaN', '{"name":"Rex","categoryId":NaN}'],
    ['with a leading zero', '{"name":"Rex","categoryId":01}'],
    ['two texts', '{"name":"Rex","categoryId":1}{}'],
    ['arrays nested 5,000 deep', '['.repeat(5000) + ']'.repeat(5000)],
    ['objects nested 2,000 deep', '{"a":'.repeat(2000) + 1 + '}'.repeat(2000)],
  ])('%s', async (_, body) => {
    const reply = await store.create(body);
    expect(reply.body).toEqual({ code: 'invalid_json', message: expect.any(String), status: 400 });
    expect(reply.status).toBe(400);
    expect(await petCount()).toBe(0);
  });

  test('bytes that are not UTF-8', async () => {
    const bytes = Buffer.from('{"name":"R\xe9x","categoryId":1}', 'latin1');
    const reply = await store.fetch('/v1/pets', {
      method: 'POST',
      body: bytes,
      headers: { 'content-type': 'application/json' },
    });
    expect(reply.body).toMatchObject({
      code: 'invalid_json',
      message: 'The body must be valid UTF-8.',
    });
    expect(await petCount()).toBe(0);
  });
});

describe('a body that is too large', () => {
  test('of 100 KiB', async () => {
    const reply = await store.create({ name: 'x'.repeat(100 * 1024), categoryId: 1 });
    expect(reply.body).toEqual({
      code: 'body_too_large',
      message: expect.any(String),
      status: 413,
    });
    expect(reply.status).toBe(413);
  });

  test('of 40 KiB in chunks, without a Content-Length', async () => {
    const chunk = new TextEncoder().encode(' '.repeat(4096));
    const body = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 10; i += 1) controller.enqueue(chunk);
        controller.close();
      },
    });
    const init = {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    };
    expect((await store.fetch('/v1/pets', init)).body).toMatchObject({ code: 'body_too_large' });
  });

  test('in chunks below the limit is accepted', async () => {
    const body = new Blob(['{"name":"Rex","categ', 'oryId":1}']).stream();
    const init = {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    };
    expect((await store.fetch('/v1/pets', init)).status).toBe(201);
  });
});

describe('a body with another media type or coding', () => {
  test.each([
    ['none', null],
    ['text/plain', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['another JSON', 'application/problem+json'],
    ['another charset', 'application/json; charset=iso-8859-1'],
    ['another parameter', 'application/json; profile=x'],
    ['two', 'application/json, text/plain'],
  ])('%s', async (_, contentType) => {
    const body = Uint8Array.from(Buffer.from(`{"name":"Rex","categoryId":1}`));
    const reply = await store.fetch('/v1/pets', {
      method: 'POST',
      body,
      headers: { 'content-type': contentType },
    });
    expect(reply.status).toBe(415);
    expect(reply.headers.get('accept')).toBe('application/json');
    expect(reply.body).toEqual({
      code: 'unsupported_media_type',
      message: expect.stringContaining('Content-Type: application/json'),
      status: 415,
    });
    expect(await petCount()).toBe(0);
  });

  test('compressed', async () => {
    const reply = await store.create('{"name":"Rex","categoryId":1}', {
      headers: { 'content-encoding': 'gzip' },
    });
    expect(reply.status).toBe(415);
    expect(reply.headers.get('accept-encoding')).toBe('identity');
    expect(reply.body).toMatchObject({ code: 'unsupported_media_type' });
  });
});
