using FsCheck;
using FsCheck.Fluent;

namespace Billing.UnitTests.Testing;

/// <summary>Runs properties from one fixed seed, so that every run tries the same values.</summary>
internal static class PropertyChecks
{
    private const ulong Seed = 20260131;
    private const ulong Gamma = 12345;

    /// <summary>Tries the property on generated values; the test fails with the value that breaks it.</summary>
    public static void Holds<T>(this Gen<T> values, Action<T> property, int tries = 200) =>
        Check.One(
            Config.QuickThrowOnFailure.WithMaxTest(tries).WithReplay(Seed, Gamma).WithQuietOnSuccess(true),
            Prop.ForAll(values.ToArbitrary(), property));
}
