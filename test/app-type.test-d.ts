/** The errors that `hc<AppType>()` returns, and mistakes that must not compile. */
import { hc } from 'hono/client';
import type { ExtractSchema } from 'hono/types';
import type description from '../public/openapi.json';
import type { AppType } from '../src/app.ts';

const { v1 } = hc<AppType>('https://api.animal-store.example');
const json = { name: 'Rex', categoryId: 3 };

type Operations = (typeof description)['paths'];
/**
 * The codes of an operation's errors in the description. Of a response without a body, there is no
 * example.
 */
type DescribedCode<Responses> = {
  [Status in keyof Responses]: Responses[Status] extends {
    content: { 'application/json': { examples: infer Examples } };
  }
    ? keyof Examples
    : never;
}[keyof Responses];

type Routes = ExtractSchema<AppType>;
type RouteOf<Path> = Path extends `${infer Start}{${infer Name}}` ? `${Start}:${Name}` : Path;
/** The same codes in the type of the app. */
type TypedCode<Endpoint> = Extract<Endpoint, { output: { code: string } }>['output']['code'];

type Same<A, B> = [A, B] extends [B, A] ? true : false;
type Difference = {
  [Path in keyof Operations & string]: {
    [Method in keyof Operations[Path] & string]: Same<
      DescribedCode<Operations[Path][Method]['responses' & keyof Operations[Path][Method]]>,
      TypedCode<Index<Index<Routes, `/v1${RouteOf<Path>}`>, `$${Method}`>>
    > extends true
      ? never
      : [Path, Method];
  }[keyof Operations[Path] & string];
}[keyof Operations & string];
type Index<T, Key> = Key extends keyof T ? T[Key] : never;

/** The type of the app has exactly the errors of the description. */
export const noDifference = (difference: Difference): never => difference;

// No parameter is required.
v1.pets.$get();

// @ts-expect-error: JSON.stringify would throw
v1.pets.$post({ json: { ...json, categoryId: 3n } });
// @ts-expect-error: an unknown field
v1.pets.$post({ json: { name: 'Rex', categoryId: 3, stauts: 'sold' } });
// @ts-expect-error: an unknown parameter
v1.pets.$get({ query: { stauts: 'sold' } });
// @ts-expect-error: a list accepts no Idempotency-Key
v1.pets.$get({ header: { 'Idempotency-Key': 'k' } });
