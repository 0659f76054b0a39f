using Billing.Misuse.Attacks;
using Billing.Misuse.Connections;
using Billing.Misuse.Watching;

namespace Billing.Misuse;

/// <summary>A shape that was tried.</summary>
/// <param name="Shape">The hostile callers.</param>
/// <param name="Facts">What was seen meanwhile.</param>
/// <param name="Result">What became of them.</param>
/// <param name="Wrong">What must not be, one sentence each; empty if all is well.</param>
internal sealed record Trial(Shape Shape, AttackFacts Facts, AttackResult Result, IReadOnlyList<string> Wrong);
