using Billing.LocalStack.Processes;
using Billing.Operator.Files;

namespace Billing.UnitTests.Operator.Files;

public sealed class FileLockTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-lock-");

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string LockFile => Path.Combine(_folder.FullName, "some.lock");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public async Task A_lock_is_free_again_when_it_is_given_back()
    {
        var first = await FileLock.AcquireAsync(LockFile, Token);
        var second = FileLock.AcquireAsync(LockFile, Token);
        Assert.False(second.IsCompleted);

        first.Dispose();

        (await second).Dispose();
    }

    [Fact]
    public async Task A_lock_is_the_same_as_that_of_the_program_flock()
    {
        using (await FileLock.AcquireAsync(LockFile, Token))
        {
            Assert.Equal(1, (await new Tool("flock").TryAsync(["-n", LockFile, "true"], Token)).ExitCode);
        }

        Assert.Equal(0, (await new Tool("flock").TryAsync(["-n", LockFile, "true"], Token)).ExitCode);
    }
}
