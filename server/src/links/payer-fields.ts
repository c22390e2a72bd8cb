import { AppError } from '../kit/app-error.ts';

/**
 * What a payment is refused for, by the names of the payer's form: `data.amount` is `amount`. What the payer cannot mend
 * says whom to tell, and stays whole for the log; so does the amount where `entered` is false, because it is not theirs.
 */
export async function withPayerFields<Result>(entered: boolean, create: () => Promise<Result>): Promise<Result> {
  try {
    return await create();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.fields === undefined && error.code !== 'network_not_available') throw error;
    if (!entered || error.fields === undefined || error.fields.some(({ path }) => path !== 'data.amount')) {
      const message = 'The shop cannot take this payment at the moment. Tell the shop.';
      throw new AppError('state_conflict', message, { internal: error.message, cause: error });
    }
    const message = error.code === 'split_exceeds_amount' ? 'The amount is too small here. Enter more.' : error.message;
    throw new AppError(error.code, message, { fields: [{ path: 'amount', message }], cause: error });
  }
}
