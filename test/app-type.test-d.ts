/** What `hc<AppType>()` accepts and returns, and mistakes that must not compile. */
import { hc, type InferResponseType } from 'hono/client';
import type description from '../public/openapi.json';
import type { AppType } from '../src/app.ts';

const { v1 } = hc<AppType>('https://api.animal-store.example');
const param = { petId: '7' };
const json = { name: 'Rex', categoryId: 3 };

export async function readResponses() {
  const listed = await v1.pets.$get({ query: { status: 'sold', limit: '5', after: '7' } });
  if (listed.status === 200) {
    const [pet] = await listed.json();
    pet?.id satisfies number | undefined;
    if (pet?.status === 'sold') return;
    // @ts-expect-error: not a field
    pet?.nmae;
  }
  const got = await v1.pets[':petId'].$get({ param });
  if (got.ok) (await got.json()).name satisfies string;
  if (got.status === 404) {
    (await got.json()).code satisfies 'pet_not_found';
  }
  // @ts-expect-error: the operation has no body, so it has no such status
  if (got.status === 413) return;
  const created = await v1.pets.$post({ json });
  if (created.status === 201) (await created.json()).categoryId satisfies number;
}

type Operations = (typeof description)['paths'];
/** The codes of an operation's errors in the description. Of a response without a body, there is no example. */
type DescribedCode<Responses> = {
  [Status in keyof Responses]: Responses[Status] extends {
    content: { 'application/json': { examples: infer Examples } };
  }
    ? keyof Examples
    : never;
}[keyof Responses];
/** The same codes in the type of the app. */
type TypedCode<Endpoint> = Extract<InferResponseType<Endpoint>, { code: string }>['code'];
type Same<A, B> = [A, B] extends [B, A] ? true : false;
type Fits<Operation extends { responses: object }, Endpoint> = Same<
  DescribedCode<Operation['responses']>,
  TypedCode<Endpoint>
>;
type Pet = (typeof v1.pets)[':petId'];
type Order = (typeof v1.store.orders)[':orderId'];

/** The type of the app has exactly the errors of the description. */
export type Errors = AllTrue<{
  listPets: Fits<Operations['/pets']['get'], typeof v1.pets.$get>;
  createPet: Fits<Operations['/pets']['post'], typeof v1.pets.$post>;
  getPet: Fits<Operations['/pets/{petId}']['get'], Pet['$get']>;
  updatePet: Fits<Operations['/pets/{petId}']['patch'], Pet['$patch']>;
  deletePet: Fits<Operations['/pets/{petId}']['delete'], Pet['$delete']>;
  listOrders: Fits<Operations['/store/orders']['get'], typeof v1.store.orders.$get>;
  placeOrder: Fits<Operations['/store/orders']['post'], typeof v1.store.orders.$post>;
  getOrder: Fits<Operations['/store/orders/{orderId}']['get'], Order['$get']>;
  updateOrder: Fits<Operations['/store/orders/{orderId}']['patch'], Order['$patch']>;
  getHealth: Fits<Operations['/health']['get'], typeof v1.health.$get>;
}>;
type AllTrue<T extends Record<keyof T, true>> = T;

// @ts-expect-error: JSON.stringify would throw
v1.pets.$post({ json: { ...json, categoryId: 3n } });
// @ts-expect-error: an unknown field
v1.pets.$post({ json: { name: 'Rex', categoryId: 3, stauts: 'sold' } });
// @ts-expect-error: an unknown parameter
v1.pets.$get({ query: { stauts: 'sold' } });
// @ts-expect-error: a list accepts no Idempotency-Key
v1.pets.$get({ header: { 'Idempotency-Key': 'k' } });
