import type { Block, Typesetter } from './typesetter.ts';

interface Room {
  width: number;
  height: number;
}

/**
 * The block at the largest size at which it is no higher than the room: first as large as it may be, else by halving. What
 * does not fit even at the smallest is made smaller still: a text may become small, never cut off.
 */
export async function fit(
  typesetter: Typesetter,
  room: Room,
  sizes: { max: number; min: number },
  make: (size: number) => Block,
): Promise<Block> {
  const fits = async (size: number): Promise<boolean> =>
    (await typesetter.heightOf(make(size), room.width)) <= room.height;
  if (await fits(sizes.max)) return make(sizes.max);
  let [fitting, above] = [sizes.min, sizes.max];
  while (fitting > 1 && !(await fits(fitting))) {
    above = fitting;
    fitting = Math.floor(fitting / 2);
  }
  while (above - fitting > 1) {
    const middle = Math.floor((fitting + above) / 2);
    if (await fits(middle)) fitting = middle;
    else above = middle;
  }
  return make(fitting);
}
