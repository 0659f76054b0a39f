using Billing.Contracts;
using Billing.V1;

namespace Billing.Client;

/// <summary>The answer to a timed payment.</summary>
/// <param name="Answer">Accepted or declined.</param>
/// <param name="Times">The times of the processing steps.</param>
public sealed record TimedPayment(MakePaymentResponse Answer, StepTimes Times);
