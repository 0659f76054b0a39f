using FsCheck;
using FsCheck.Fluent;

namespace Billing.UnitTests.Testing;

/// <summary>Checks properties with a fixed seed, so that every run uses the same values.</summary>
internal static class PropertyChecks
{
    private const ulong Seed = 20260131;
    private const ulong Gamma = 12345;

    /// <summary>Checks the property for generated values; the test fails with the value that violates it.</summary>
    public static void Holds<T>(this Gen<T> values, Action<T> property, int tries = 200) =>
        Check.One(
            Config.QuickThrowOnFailure.WithMaxTest(tries).WithReplay(Seed, Gamma).WithQuietOnSuccess(true),
            Prop.ForAll(values.ToArbitrary(), property));
}
