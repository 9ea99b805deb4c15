/** A minimal Hono app with the store's responses: the cost of Hono and the runtime alone. */
import { Hono } from 'hono';

const app = new Hono();
const pet = { id: 12, name: 'Rex 12', categoryId: 12, status: 'sold' };
const pets = Array(20).fill(pet);

app.get('/v1/pets', (c) => c.json(pets));
app.get('/v1/pets/:petId', (c) => c.json(pet));
app.post('/v1/pets', async (c) => c.json({ id: 12, ...(await c.req.json()) }, 201));

export default app;
